package source

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/stencildb/stencildb/sqlstate"
)

// Encoding is how the characters of a text are bytes; "" is UTF-8.
type Encoding string

// The encodings that are read.
const (
	UTF8        Encoding = "utf8"
	Latin1      Encoding = "latin1"
	Windows1252 Encoding = "windows1252"
	UTF16       Encoding = "utf16" // in the order of its byte order mark, else little end first
)

var decoders = map[Encoding]encoding.Encoding{
	Latin1: charmap.ISO8859_1, Windows1252: charmap.Windows1252, UTF16: unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
}

// parseEncoding reads the name of an encoding, as it is or as others write it.
func parseEncoding(name string) (Encoding, error) {
	plain := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	known := map[string]Encoding{"iso88591": Latin1, "cp1252": Windows1252, "win1252": Windows1252}
	e, ok := known[plain]
	if !ok {
		e = Encoding(plain)
	}
	if e != UTF8 && decoders[e] == nil {
		return "", fmt.Errorf("option encoding: %q is not known: there are utf8, latin1, windows1252 and utf16", name)
	}
	return e, nil
}

// inUTF8 reads a text as UTF-8.
func inUTF8(in io.ReadCloser, e Encoding) io.ReadCloser {
	if decoders[e] == nil {
		return in
	}
	return twoClosers{io.NopCloser(decoders[e].NewDecoder().Reader(in)), in}
}

// SkipBOM is text without a byte order mark. One of another encoding than is read is an error, and so is text without one that has the zeros of UTF-16.
func (l *Loader) SkipBOM(text []byte) ([]byte, error) {
	wide := ""
	switch {
	case decoders[l.Source.Encoding] != nil:
	case bytes.HasPrefix(text, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(text, []byte("\x00\x00\xfe\xff")):
		return nil, sqlstate.Errorf(sqlstate.FeatureNotSupported, "line 1: the text is UTF-32, which is not read: convert it to UTF-8")
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		wide = "the text is UTF-16"
	case len(text) > 3 && text[0] != 0 && text[1] == 0 && text[2] != 0 && text[3] == 0:
		wide = "the text looks like UTF-16"
	}
	if wide != "" {
		return nil, sqlstate.Errorf(sqlstate.BadCopyFileFormat, "line 1: %s; write %s %s", wide, l.Option("encoding", string(UTF16)), l.OptionsPlace())
	}
	return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), nil
}

// NotUTF8 says what to do about text that is none.
func (l *Loader) NotUTF8() error {
	if l.Source.Columns != nil {
		return fmt.Errorf("%w: write ENCODING 'latin1' if that is what it is, or convert the file", ErrUTF8)
	}
	return fmt.Errorf("%w; if it is Latin-1, as older programs write, write %s %s", ErrUTF8, l.Option("encoding", string(Latin1)), l.OptionsPlace())
}

var ErrUTF8 = sqlstate.Errorf(sqlstate.CharacterNotInRepertoire, "the text is not valid UTF-8")
