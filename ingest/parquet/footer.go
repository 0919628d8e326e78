package parquet

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/thrift/lib/go/thrift"
	"github.com/stencildb/stencildb/ingest/source"
	"github.com/stencildb/stencildb/sqlstate"
)

// footerEnd is how many bytes of a Parquet file follow its footer: the footer's length, and the magic word.
const footerEnd = 8

// readFooter reads the footer of a file.
func readFooter(in *source.Input) (*metadata.FileMetaData, error) {
	size := in.Size()
	end := make([]byte, footerEnd)
	if size < footerEnd {
		return nil, source.Damagef("not a complete Parquet file: it has %d bytes", size)
	}
	if _, err := in.ReadAt(end, size-footerEnd); err != nil {
		return nil, source.Damaged(err, "not a complete Parquet file: its footer")
	}
	n := int64(binary.LittleEndian.Uint32(end))
	switch {
	case string(end[4:]) == "PARE":
		return nil, sqlstate.Errorf(sqlstate.FeatureNotSupported, "the Parquet file is encrypted, which is not supported: write it without")
	case string(end[4:]) != "PAR1":
		return nil, source.Damagef("not a complete Parquet file: it does not end as one")
	case n > size-footerEnd:
		return nil, source.Damagef("not a complete Parquet file: its footer would have %d bytes", n)
	}
	data := make([]byte, n)
	if _, err := in.ReadAt(data, size-footerEnd-n); err != nil {
		return nil, source.Damaged(err, "not a complete Parquet file: its footer")
	}
	data, err := withoutUnknownTypes(data)
	if err == nil {
		var meta *metadata.FileMetaData
		if meta, err = metadata.NewFileMetaData(data, nil); err == nil {
			return meta, nil
		}
	}
	return nil, source.Damaged(err, "not a complete Parquet file: its footer")
}

// compact reads what Thrift's compact protocol has written.
type compact struct{ *thrift.TCompactProtocol }

// fields reads a struct: read is asked for each field, and reports whether it has read it. Others are passed over.
func (p compact) fields(read func(id int16, kind thrift.TType) (known bool, err error)) error {
	ctx := context.Background()
	if _, err := p.ReadStructBegin(ctx); err != nil {
		return err
	}
	for {
		_, kind, id, err := p.ReadFieldBegin(ctx)
		if err != nil {
			return err
		}
		if kind == thrift.STOP {
			return p.ReadStructEnd(ctx)
		}
		known, err := read(id, kind)
		if err == nil && !known {
			err = p.Skip(ctx, kind)
		}
		if err != nil {
			return err
		}
	}
}

func newCompact(from thrift.TTransport) compact {
	return compact{thrift.NewTCompactProtocolConf(from, &thrift.TConfiguration{})}
}

// Numbers of fields in parquet.thrift.
const (
	metaSchema         = 2  // of FileMetaData
	elementLogicalType = 10 // of SchemaElement
	logicalTime        = 7  // of LogicalType
	logicalTimestamp   = 8
	logicalLast        = 18 // GEOGRAPHY, the last that arrow-go knows
	timeUnit           = 2  // of TimeType and TimestampType
	unitNanos          = 3  // of TimeUnit, the last
)

// withoutUnknownTypes is a footer without the logical types that arrow-go does not know, at which it panics. A column of such a
// type is read as if it had none.
func withoutUnknownTypes(footer []byte) ([]byte, error) {
	buf := bytes.NewBuffer(footer)
	p, ctx := newCompact(&thrift.TMemoryBuffer{Buffer: buf}), context.Background()
	var unknown []int // where the unions begin
	unit := func(known *bool) error {
		return p.fields(func(id int16, kind thrift.TType) (bool, error) {
			if id != timeUnit || kind != thrift.STRUCT {
				return false, nil
			}
			*known = false
			return true, p.fields(func(id int16, _ thrift.TType) (bool, error) {
				*known = id >= 1 && id <= unitNanos
				return false, nil
			})
		})
	}
	element := func() error {
		return p.fields(func(id int16, kind thrift.TType) (bool, error) {
			if id != elementLogicalType || kind != thrift.STRUCT {
				return false, nil
			}
			at, known := len(footer)-buf.Len(), false
			err := p.fields(func(id int16, kind thrift.TType) (bool, error) {
				known = id >= 1 && id <= logicalLast && id != 9 // which the standard reserves
				if kind == thrift.STRUCT && (id == logicalTime || id == logicalTimestamp) {
					return true, unit(&known)
				}
				return false, nil
			})
			if !known {
				unknown = append(unknown, at)
			}
			return true, err
		})
	}
	err := p.fields(func(id int16, kind thrift.TType) (bool, error) {
		if id != metaSchema || kind != thrift.LIST {
			return false, nil
		}
		of, n, err := p.ReadListBegin(ctx)
		if err == nil && of != thrift.STRUCT {
			err = source.Damagef("its schema is no list of elements")
		}
		for range n {
			if err == nil {
				err = element()
			}
		}
		return true, err
	})
	if len(unknown) > 0 {
		footer = bytes.Clone(footer)
	}
	for _, at := range unknown {
		// The byte before has the field's number, as a difference in its upper half or as it is, twice. The field gets a number
		// that no field of an element has, and is skipped.
		footer[at-1] += 1 << 4
	}
	return footer, err
}
