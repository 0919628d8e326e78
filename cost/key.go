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
	"slices"

	"github.com/stencildb/stencildb/internal/files"
)

// Version is that of the model and of what it is measured on: profiles of another one
// are measured again.
const Version = 7

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

// Load reads the profile of a key from a folder. A key without a renderer is of no open
// device. Of that it is the one of the same CPU that was measured last, of whatever device.
// Without one, or a folder, the error is [fs.ErrNotExist].
func Load(folder string, k Key) (last *Profile, err error) {
	if folder == "" {
		return nil, fs.ErrNotExist
	}
	paths := []string{File(folder, k)}
	if k.Renderer == "" {
		if paths, err = filepath.Glob(filepath.Join(folder, "calibration-*.json")); err != nil {
			return nil, err
		}
	}
	none := fs.ErrNotExist
	for _, path := range paths {
		p, err := read(path)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			none = err
		case err != nil || k.Renderer == "" && p.Key.host() != k.host():
		case k.Renderer != "" && p.Key != k:
			none = fmt.Errorf("%s: %w", path, ErrStale)
		case last == nil || p.Measured.After(last.Measured):
			last = p
		}
	}
	if last == nil {
		return nil, none
	}
	return last, nil
}

// host is the key without what is the device's.
func (k Key) host() Key { return Key{Version: k.Version, CPU: k.CPU, Cores: k.Cores} }

// Costs is a profile to go by, and where it comes from.
type Costs struct {
	// Source says where the profile comes from, in words; Measured, whether it was
	// measured on this device and CPU.
	Source   string `json:"source"`
	Measured bool   `json:"measured"`
	// Warning says why a profile that was kept is not used; "" mostly.
	Warning string   `json:"warning,omitempty"`
	Profile *Profile `json:"profile"`
}

// For returns the profile to go by: what [Load] finds in a folder, else the built-in one of
// the device's class, k.Software. While no device is open (a key without a renderer) it
// should be that of hardware where there may be any. No query on the device that is opened
// later is expected to take less than it predicts.
func For(folder string, k Key) (c Costs, err error) {
	closed := ""
	if k.Renderer == "" {
		closed = "; no device is open"
	}
	switch c.Profile, err = Load(folder, k); {
	case err == nil && closed == "":
		c.Measured, c.Source = true, "measured on this machine "+c.Profile.Measured.Format("2006-01-02 15:04")
		return c, nil
	case err == nil:
		c.Source = "measured on this machine with " + c.Profile.Key.Renderer + closed
		return c, nil
	case !errors.Is(err, fs.ErrNotExist):
		c.Warning = err.Error()
	}
	if c.Profile, err = Default(k.Software, k.Cores); err != nil {
		return c, err
	}
	c.Source = "built in, of " + c.Profile.Key.Renderer + closed
	if closed == "" {
		c.Source += ": stencildb info --calibrate measures this machine"
	}
	return c, nil
}

func read(path string) (*Profile, error) {
	data, err := files.Read(path)
	switch {
	case errors.Is(err, files.ErrNotPlain):
		return nil, fmt.Errorf("%s: %w: %v", path, ErrDamaged, err)
	case err != nil:
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
	return !slices.ContainsFunc(list, func(v float64) bool { return !(v >= 0) || math.IsInf(v, 1) })
}
