package sql

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/stencildb/stencildb/sqlstate"
)

// Transaction is what BEGIN, COMMIT, ROLLBACK and their like ask for.
type Transaction struct {
	Verb      string // "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "ROLLBACK TO" or "RELEASE"
	ReadOnly  bool   // of BEGIN
	Savepoint string // of the last three
}

// transaction takes a statement that begins or ends a transaction.
func (s *Statement) transaction(n *pg.TransactionStmt) error {
	switch n.Kind {
	case pg.TransactionStmtKind_TRANS_STMT_BEGIN, pg.TransactionStmtKind_TRANS_STMT_START:
		s.Transaction = &Transaction{Verb: "BEGIN"}
	case pg.TransactionStmtKind_TRANS_STMT_COMMIT:
		s.Transaction = &Transaction{Verb: "COMMIT"}
	case pg.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		s.Transaction = &Transaction{Verb: "ROLLBACK"}
	case pg.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		s.Transaction = &Transaction{Verb: "SAVEPOINT", Savepoint: n.SavepointName}
	case pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		s.Transaction = &Transaction{Verb: "ROLLBACK TO", Savepoint: n.SavepointName}
	case pg.TransactionStmtKind_TRANS_STMT_RELEASE:
		s.Transaction = &Transaction{Verb: "RELEASE", Savepoint: n.SavepointName}
	default:
		return s.coded(sqlstate.FeatureNotSupported, 0, "prepared transactions are not supported; there are BEGIN, COMMIT, ROLLBACK and SAVEPOINT")
	}
	if n.Chain {
		return s.coded(sqlstate.FeatureNotSupported, s.keyword("chain"), "AND CHAIN is not supported; write BEGIN behind %s", s.Transaction.Verb)
	}
	for _, o := range n.Options {
		d := o.GetDefElem()
		switch v := d.GetArg().GetAConst(); d.GetDefname() {
		case "transaction_isolation":
			if level := v.GetSval().GetSval(); strings.EqualFold(level, "serializable") {
				return s.coded(sqlstate.FeatureNotSupported, int(d.Location), "the isolation level SERIALIZABLE is not supported; a transaction reads one snapshot: write REPEATABLE READ")
			}
		case "transaction_read_only":
			s.Transaction.ReadOnly = v.GetIval().GetIval() != 0
		default:
			return s.coded(sqlstate.FeatureNotSupported, int(d.GetLocation()), "a transaction takes an isolation level, READ ONLY or READ WRITE")
		}
	}
	return nil
}
