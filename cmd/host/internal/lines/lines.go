package lines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/toolquay/toolquay/abi"
)

// MaxLine is the longest line that is read, in bytes. It holds the longest
// input a tool may get.
const MaxLine = 16 << 20

// Failure is the answer to a line that cannot be answered.
type Failure struct {
	Error string `json:"error"`
}

// each reads lines and writes what answer says to each. Empty lines are left
// out. It ends with the first error of reading or writing, and returns how many
// lines could not be answered.
func each(in io.Reader, out io.Writer, answer func(line []byte) (any, error)) (failed int, err error) {
	r := bufio.NewReaderSize(in, 64<<10)
	w := bufio.NewWriter(out)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for number := 1; ; number++ {
		line, err := readLine(r)
		long := errors.Is(err, errLong)
		if err != nil && !long && !errors.Is(err, io.EOF) {
			return failed, errors.Join(fmt.Errorf("reading line %d: %w", number, err), w.Flush())
		}
		if line = bytes.TrimSpace(line); len(line) > 0 || long {
			said := reply(number, line, long, answer)
			if _, fault := said.(Failure); fault {
				failed++
			}
			if wrong := encoder.Encode(said); wrong != nil {
				return failed, fmt.Errorf("writing the answer to line %d: %w", number, wrong)
			}
		}
		// Whoever asks line by line waits for the answer.
		end := errors.Is(err, io.EOF)
		if end || r.Buffered() == 0 {
			if wrong := w.Flush(); wrong != nil {
				return failed, fmt.Errorf("writing the answer to line %d: %w", number, wrong)
			}
		}
		if end {
			return failed, nil
		}
	}
}

func reply(number int, line []byte, long bool, answer func(line []byte) (any, error)) any {
	err := errLong
	if !long {
		var out any
		if out, err = object(line, answer); err == nil {
			return out
		}
	}
	return Failure{fmt.Sprintf("line %d: %v", number, err)}
}

// object answers a line that is a JSON object.
func object(line []byte, answer func(line []byte) (any, error)) (any, error) {
	if _, err := abi.Canonical(line); err != nil {
		return nil, err
	}
	if line[0] != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	return answer(line)
}

var errLong = fmt.Errorf("it is longer than %d bytes", MaxLine)

// readLine reads a line of any length and keeps no more than MaxLine of it.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := r.ReadSlice('\n')
		if long = long || len(line)+len(piece) > MaxLine; !long {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return line, err
		case long:
			return nil, errLong
		}
		return line, nil
	}
}
