-- Boundaries of words, also of letters beyond ASCII.
CREATE TABLE w (s text);
INSERT INTO w VALUES ('foo bar'), ('été là-bas'), ('слово и дело'), (''), ('a_b é1 _'), ('naïve café'), ('日本 語'), ('--');
SELECT s, regexp_replace(s, '\m', '<', 'g'), regexp_replace(s, '\M', '>', 'g'), regexp_replace(s, '\y', '|', 'g'), regexp_replace(s, '\Y', '.', 'g') FROM w ORDER BY s;
--> text, text, text, text, text
--> '', '', '', '', .
--> --, --, --, --, .-.-.
--> a_b é1 _, <a_b <é1 <_, a_b> é1> _>, |a_b| |é1| |_|, a._.b é.1 _
--> foo bar, <foo <bar, foo> bar>, |foo| |bar|, f.o.o b.a.r
--> naïve café, <naïve <café, naïve> café>, |naïve| |café|, n.a.ï.v.e c.a.f.é
--> été là-bas, <été <là-<bas, été> là>-bas>, |été| |là|-|bas|, é.t.é l.à-b.a.s
--> слово и дело, <слово <и <дело, слово> и> дело>, |слово| |и| |дело|, с.л.о.в.о и д.е.л.о
--> 日本 語, <日本 <語, 日本> 語>, |日本| |語|, 日.本 語
SELECT s, s ~ '\ycaf\y', s ~ '\ycafé\y', s ~ 'ï\M', s ~ '\md', s ~ '\mд', s ~* '\mД', s ~ '[[:<:]]bas[[:>:]]' FROM w ORDER BY s;
--> text, boolean, boolean, boolean, boolean, boolean, boolean, boolean
--> '', f, f, f, f, f, f, f
--> --, f, f, f, f, f, f, f
--> a_b é1 _, f, f, f, f, f, f, f
--> foo bar, f, f, f, f, f, f, f
--> naïve café, f, t, f, f, f, f, f
--> été là-bas, f, f, f, f, f, f, t
--> слово и дело, f, f, f, f, t, t, f
--> 日本 語, f, f, f, f, f, f, f
SELECT s, regexp_count(s, '\m\w+\M'), regexp_substr(s, '\m\w+\M', 1, 2), regexp_instr(s, '\y(\w)(\w*)\y', 2, 1, 1, '', 2) FROM w ORDER BY s;
--> text, integer, text, integer
--> '', 0, NULL, 0
--> --, 0, NULL, 0
--> a_b é1 _, 3, é1, 7
--> foo bar, 2, bar, 8
--> naïve café, 2, café, 11
--> été là-bas, 3, là, 7
--> слово и дело, 3, и, 8
--> 日本 語, 2, 語, 5
SELECT s, substring(s FROM '\m(\w)'), substring(s FROM '(\w)\M'), regexp_replace(s, '(\m.)(\w*)', '\2\1', 'g') FROM w ORDER BY s;
--> text, text, text, text
--> '', NULL, NULL, ''
--> --, NULL, NULL, --
--> a_b é1 _, a, b, _ba 1é _
--> foo bar, f, o, oof arb
--> naïve café, n, e, aïven aféc
--> été là-bas, é, é, téé àl-asb
--> слово и дело, с, о, ловос и елод
--> 日本 語, 日, 本, 本日 語
SELECT s, regexp_replace(s, '\m(\w+?)\M', '[\1]', 'g'), regexp_replace(s, '(?:\m|-)', '+', 'g'), regexp_replace(s, '\y|o', '*', 'g') FROM w ORDER BY s;
--> text, text, text, text
--> '', '', '', ''
--> --, --, ++, --
--> a_b é1 _, [a_b] [é1] [_], +a_b +é1 +_, *a_b* *é1* *_*
--> foo bar, [foo] [bar], +foo +bar, *f*** *bar*
--> naïve café, [naïve] [café], +naïve +café, *naïve* *café*
--> été là-bas, [été] [là]-[bas], +été +là++bas, *été* *là*-*bas*
--> слово и дело, [слово] [и] [дело], +слово +и +дело, *слово* *и* *дело*
--> 日本 語, [日本] [語], +日本 +語, *日本* *語*
SELECT 'a' ~ '[\y]';
--> error 2201B
