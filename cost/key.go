package cost

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/stencildb/stencildb/internal/files"
)

// Version is that of the model and of what it is measured on: profiles of another one
// are measured again.
const Version = 3

// Key says what a profile was measured on.
type Key struct {
	Version  int    `json:"version"`  // of the model
	Renderer string `json:"renderer"` // of OpenGL
	Driver   string `json:"driver"`   // OpenGL's version string
	Software bool   `json:"software"` // the CPU renders
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"` // that the process may use
}

// Folder is where profiles are kept: stencildb in the user's cache folder.
func Folder() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cost: no folder to keep a calibration in: %w", err)
	}
	return filepath.Join(dir, "stencildb"), nil
}

// File names the file of a key in a folder. Another driver version, or another
// version of the model, takes the place of what was measured before.
func File(folder string, k Key) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", k.Renderer, k.CPU, k.Cores))
	return filepath.Join(folder, "calibration-"+hex.EncodeToString(h[:6])+".json")
}

// Errors of [Load]. There is no profile, or none that serves, in either case.
var (
	// ErrStale: what is kept was measured with another driver, or another version of
	// the model.
	ErrStale = errors.New("the calibration kept is of another driver or program version")
	// ErrDamaged: the file does not hold a profile.
	ErrDamaged = errors.New("the calibration file is damaged")
)

// Load reads the profile of a key from a folder. Without one, or a folder, the error
// is [fs.ErrNotExist].
func Load(folder string, k Key) (*Profile, error) {
	if folder == "" {
		return nil, fs.ErrNotExist
	}
	path := File(folder, k)
	p, err := read(path)
	if err != nil {
		return nil, err
	}
	if p.Key != k {
		return nil, fmt.Errorf("%s: %w", path, ErrStale)
	}
	return p, nil
}

// Newest returns the profile of this CPU in a folder that was measured last, of
// whatever device: what to go by before a device has been opened. Without one the
// error is [ErrDamaged] where a file is, else [fs.ErrNotExist].
func Newest(folder, cpu string, cores int) (*Profile, error) {
	if folder == "" {
		return nil, fs.ErrNotExist
	}
	files, err := filepath.Glob(filepath.Join(folder, "calibration-*.json"))
	if err != nil {
		return nil, err
	}
	var newest *Profile
	none := fs.ErrNotExist
	for _, f := range files {
		p, err := read(f)
		if errors.Is(err, ErrDamaged) {
			none = err
		}
		if err != nil || p.Key.CPU != cpu || p.Key.Cores != cores || p.Key.Version != Version {
			continue
		}
		if newest == nil || p.Measured.After(newest.Measured) {
			newest = p
		}
	}
	if newest == nil {
		return nil, none
	}
	return newest, nil
}

// read reads a file and checks what it holds.
func read(path string) (*Profile, error) {
	switch st, err := os.Stat(path); {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular(): // a pipe would be waited for
		return nil, fmt.Errorf("%s: %w: it is no plain file", path, ErrDamaged)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := &Profile{}
	if err = json.Unmarshal(data, p); err == nil && p.Key.Version == Version {
		err = p.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %v", path, ErrDamaged, err)
	}
	return p, nil
}

// CheckFolder returns an error when [Save] could not keep anything in a folder.
func CheckFolder(folder string) error {
	return files.MakeFolder(folder)
}

// Save keeps a profile in a folder, which it makes where there is none. The file is
// replaced as a whole.
func Save(folder string, p *Profile) (path string, err error) {
	if err := p.check(); err != nil {
		return "", fmt.Errorf("cost: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	path = File(folder, p.Key)
	err = files.Write(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(p)
	})
	if err != nil {
		return "", err
	}
	return path, nil
}

// check returns the first thing that no measurement can have given.
func (p *Profile) check() error {
	if _, ok := p.Backends["cpu"]; !ok {
		return errors.New("no costs of cpu")
	}
	if !positive(p.Opening) {
		return errors.New("a time to open the device that is negative or no number")
	}
	for name, b := range p.Backends {
		if !positive(b.Overhead, b.Again, b.Upload.T0, b.Upload.Band, b.Memory, b.Compile) {
			return fmt.Errorf("%s: a cost that is negative or no number", name)
		}
		for class, curves := range b.Costs {
			if err := curves.check(); err != nil {
				return fmt.Errorf("%s: %s: %w", name, class, err)
			}
		}
	}
	return nil
}

func (cs Curves) check() error {
	if len(cs) == 0 {
		return errors.New("no curve")
	}
	for i, c := range cs {
		if i > 0 && c.Bits <= cs[i-1].Bits || c.Bits < 1 {
			return errors.New("widths that do not ascend")
		}
		if len(c.Points) == 0 {
			return errors.New("a curve without points")
		}
		for j, p := range c.Points {
			if j > 0 && (p.Rows <= c.Points[j-1].Rows || p.Seconds < c.Points[j-1].Seconds) || !positive(p.Seconds) || p.Seconds > 1e6 {
				return errors.New("a curve that falls, or of weeks")
			}
		}
	}
	return nil
}

func positive(list ...float64) bool {
	for _, v := range list {
		if !(v >= 0) || math.IsInf(v, 1) {
			return false
		}
	}
	return true
}
