package cron

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/atomicfile"
	"github.com/toolquay/toolquay/internal/privatedir"
	"github.com/toolquay/toolquay/permissions"
)

const (
	lockName    = "lock"
	keptSuffix  = ".json"
	asideSuffix = ".damaged"
	takenSuffix = ".lock"
	// version is that of the files, and maxFile more than any has, in bytes: a prompt may be
	// written with escapes.
	version = 1
	maxFile = 1 << 20
)

// Store keeps the durable jobs of a project. It is safe for concurrent use, and processes may
// share it.
type Store struct {
	root, dir, project string
	log                *slog.Logger
	// step is told of each step; nil but in tests that end the process there.
	step func(string)
}

// NewStore is the store of a project below the directory of all stores, which is made when the
// first job is.
func NewStore(root, project string, log *slog.Logger) *Store {
	return &Store{root: root, dir: filepath.Join(root, Key(project)), project: project, log: log}
}

// Key is the name of a project's store.
func Key(project string) string {
	sum := sha256.Sum256([]byte(project))
	return hex.EncodeToString(sum[:16])
}

// IsKey reports whether a name is that of a store.
func IsKey(name string) bool {
	raw, err := hex.DecodeString(name)
	return err == nil && hex.EncodeToString(raw) == name && len(raw) == 16
}

// whose is the project that the jobs in a store's directory are of, and when one of them last
// changed; the project is empty where there are none.
func whose(dir string) (project string, changed time.Time, err error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return "", time.Time{}, err
	}
	changed = info.ModTime() // each change makes a file, or removes one
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if id, is := strings.CutSuffix(e.Name(), keptSuffix); is && isID(id) && project == "" {
			raw, err := content(filepath.Join(dir, e.Name()))
			var r struct{ Project string }
			if err == nil && json.Unmarshal(raw, &r) == nil {
				project = r.Project
			}
		}
	}
	return project, changed, err
}

// ErrInUse says that the project of a store is there.
var ErrInUse = errors.New("the project of the scheduled prompts is there")

// Gone reports whether the project that a store's directory is of is gone, or not known, as where
// there is no job; and when a job last changed.
func Gone(dir string) (project string, changed time.Time, gone bool, err error) {
	project, changed, err = whose(dir)
	if project == "" {
		return project, changed, true, err
	}
	_, missing := os.Lstat(project)
	return project, changed, errors.Is(missing, fs.ErrNotExist), err
}

// Forget removes a store's directory with all jobs, unless somebody made one meanwhile whose
// project is there, which is [ErrInUse].
func Forget(ctx context.Context, dir string) error {
	return privatedir.Locked(ctx, filepath.Join(dir, lockName), func() error {
		if _, _, gone, err := Gone(dir); err != nil || !gone {
			return cmp.Or(err, ErrInUse)
		}
		return os.RemoveAll(dir)
	})
}

// record is the file of a job.
type record struct {
	Version int `json:"version"`
	// Project is the directory of the project.
	Project string `json:"project"`
	*job
}

var errDamaged = errors.New("the file is damaged")

func damaged(path string, err error) error { return fmt.Errorf("%s: %w: %w", path, errDamaged, err) }

func (s *Store) at(step string) {
	if s.step != nil {
		s.step(step)
	}
}

func (s *Store) path(id, suffix string) string { return filepath.Join(s.dir, id+suffix) }

// content is what is in the file of a job.
func content(path string) ([]byte, error) {
	f, info, err := privatedir.OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > maxFile {
		return nil, damaged(path, fmt.Errorf("it has %d bytes", info.Size()))
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// read reads the file of a job.
func (s *Store) read(id string) (*job, error) {
	path := s.path(id, keptSuffix)
	raw, err := content(path)
	if err != nil {
		return nil, err
	}
	r := record{job: new(job)}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, damaged(path, err)
	}
	if r.Version != version {
		return nil, fmt.Errorf("%s is of version %d; this program knows version %d", path, r.Version, version)
	}
	if err := r.check(id); err != nil {
		return nil, damaged(path, err)
	}
	r.agent, r.durable = permissions.MainAgent, true
	return r.job, nil
}

// check returns what is wrong with a job that was read.
func (j *job) check(id string) (err error) {
	if j.schedule, err = Parse(j.Cron); err != nil {
		return err
	}
	if j.ID != id {
		return fmt.Errorf("it says that it is job %.20q", j.ID)
	}
	if j.Through.IsZero() || j.Created.IsZero() {
		return errors.New("it has no times")
	}
	return checkPrompt(j.Prompt)
}

// write puts a job down.
func (s *Store) write(j *job) error {
	raw, err := json.Marshal(record{version, s.project, j})
	if err != nil {
		return err
	}
	if err := atomicfile.Write(s.path(j.ID, keptSuffix), raw, 0o600); err != nil {
		return err
	}
	return atomicfile.SyncDir(s.dir)
}

func (s *Store) remove(id string) error {
	if err := os.Remove(s.path(id, keptSuffix)); err != nil {
		return err
	}
	return atomicfile.SyncDir(s.dir)
}

// all reads all jobs. Those that cannot be read are left out, with a note. Whoever has the lock
// puts damaged ones aside, and removes what killed processes left.
func (s *Store) all(locked bool) (jobs []*job, notes []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, e := range entries {
		if locked && atomicfile.IsTemporary(e.Name()) {
			_ = os.Remove(filepath.Join(s.dir, e.Name())) // it is tried again
		}
		id, is := strings.CutSuffix(e.Name(), keptSuffix)
		if !is || !isID(id) {
			continue
		}
		j, err := s.read(id)
		switch {
		case err == nil:
			jobs = append(jobs, j)
		case errors.Is(err, fs.ErrNotExist): // it was deleted just now
		default:
			notes = append(notes, s.fault(id, err, locked))
		}
	}
	return jobs, notes, err
}

// fault says that a job cannot be read.
func (s *Store) fault(id string, err error, locked bool) string {
	note := fmt.Sprintf("the scheduled job %s cannot be used: %v", id, err)
	if locked && errors.Is(err, errDamaged) {
		if aside := s.path(id, asideSuffix); os.Rename(s.path(id, keptSuffix), aside) == nil {
			note += "; it was put aside as " + aside
		}
		s.log.Warn("the file of a scheduled job is damaged", "job", id, "error", err)
	}
	return note
}

// change does something while nobody else changes the store.
func (s *Store) change(ctx context.Context, do func() error) error {
	return ioError(privatedir.Locked(ctx, filepath.Join(s.dir, lockName), do))
}

// ioError says what failed; an error with a code says so itself.
func ioError(err error) error {
	var coded *abi.Error
	if err == nil || errors.As(err, &coded) || errors.Is(err, context.Canceled) {
		return err
	}
	return abi.Errorf(abi.CodeIO, "the scheduled jobs of the project: %w", err)
}

// add keeps a new job, unless room says that there are too many.
func (s *Store) add(ctx context.Context, j *job, room func(durable int) error) (notes []string, err error) {
	for _, dir := range []string{s.root, s.dir} {
		if err := privatedir.Make(dir); err != nil {
			return nil, ioError(err)
		}
	}
	err = s.change(ctx, func() error {
		jobs, found, err := s.all(true)
		notes = found
		if err == nil {
			err = room(len(jobs))
		}
		if err == nil {
			s.at("before it is made")
			if err = s.write(j); err != nil {
				err = fmt.Errorf("%w; no job was made", err)
			}
			s.at("after it is made")
		}
		return err
	})
	return notes, err
}

// delete forgets a job. It reports false where there is none.
func (s *Store) delete(ctx context.Context, id string) (found bool, err error) {
	if !isID(id) {
		return false, nil
	}
	if _, err := os.Lstat(s.path(id, keptSuffix)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	err = s.change(ctx, func() error {
		err := s.remove(id)
		found = err == nil
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	_ = os.Remove(s.path(id, takenSuffix)) // one that stays does no harm
	return found, err
}
