package scheduler_test

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolquay/toolquay/scheduler"
)

// The law of locks: whatever runs beside what, each job reads what it would have
// read, and the files end up with what they would have held, had the jobs run one
// after the other.

// files is a tree of 27 files, three deep.
type files struct {
	mu      sync.Mutex
	names   []string
	content map[string]uint64
}

func newFiles() *files {
	f := &files{content: make(map[string]uint64)}
	for _, a := range "abc" {
		for _, b := range "abc" {
			for _, c := range "abc" {
				f.names = append(f.names, string([]rune{a, '/', b, '/', c}))
			}
		}
	}
	return f
}

// read hashes the files that a function chooses.
func (f *files) read(chosen func(string) bool) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := fnv.New64a()
	for _, name := range f.names {
		if chosen(name) {
			_, _ = h.Write(binary.LittleEndian.AppendUint64([]byte(name), f.content[name]))
		}
	}
	return h.Sum64()
}

// write gives the files that a function chooses content that depends on a value.
func (f *files) write(value uint64, chosen func(string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range f.names {
		if chosen(name) {
			f.content[name] = (f.content[name]+value)*31 + uint64(name[0])<<16 + uint64(name[2])<<8 + uint64(name[4])
		}
	}
}

// fileJob reads all that it may, takes its time, and writes all that it may, some of
// it behind its result.
type fileJob struct {
	funcJob
	index       int
	files       *files
	run, behind time.Duration
	seen        uint64
	torn        bool // what it read changed under it
}

func (j *fileJob) reads(name string) bool { return !j.traits.Locked || j.locks(name, false) }

func (j *fileJob) writes(name string) bool {
	if j.traits.Locked {
		return j.locks(name, true)
	}
	return j.unsafe && name[4] == "abc"[j.index%3] // anything, without having said so
}

func (j *fileJob) locks(name string, write bool) bool {
	return slices.ContainsFunc(j.traits.Locks, func(l scheduler.Lock) bool {
		return (l.Write || !write) && strings.HasPrefix(name+"/", l.Name+"/")
	})
}

func (j *fileJob) Run(context.Context, *scheduler.Slot) scheduler.Outcome {
	j.seen = j.files.read(j.reads)
	time.Sleep(j.run)
	j.torn = j.files.read(j.reads) != j.seen
	late := func(name string) bool { return j.behind > 0 && name[2] == 'b' && j.writes(name) }
	j.files.write(j.seen, func(name string) bool { return j.writes(name) && !late(name) })
	if j.behind == 0 {
		return scheduler.Outcome{}
	}
	ended := make(chan struct{})
	time.AfterFunc(j.behind, func() {
		j.files.write(j.seen, late)
		close(ended)
	})
	return scheduler.Outcome{Leftovers: ended}
}

// fileJobs makes jobs of which the safe ones do not write.
func (g generator) fileJobs(f *files) []*fileJob {
	jobs := make([]*fileJob, 2+g.IntN(25))
	for i := range jobs {
		j := &fileJob{index: i, files: f, run: g.some(3 * time.Second)}
		j.unsafe = g.IntN(3) > 0
		j.traits.Locked = g.IntN(6) > 0
		for range g.IntN(4) {
			name := strings.ReplaceAll(g.name(), "d", "a")
			j.traits.Locks = append(j.traits.Locks, scheduler.Lock{Name: name, Write: j.unsafe && g.oneIn(2)})
		}
		if g.oneIn(4) {
			j.behind = g.some(4 * time.Second)
		}
		ask := g.some(time.Second)
		j.admit = func(context.Context) bool { time.Sleep(ask); return true }
		jobs[i] = j
	}
	return jobs
}

func TestLaw(t *testing.T) {
	t.Parallel()
	var took, serial time.Duration
	for seed := range uint64(turns / 2) {
		synctest.Test(t, func(t *testing.T) {
			g := newGenerator(seed)
			got := newFiles()
			jobs := g.fileJobs(got)
			began := time.Now()
			s := scheduler.New(t.Context(), scheduler.Options{MaxConcurrent: 1 + g.IntN(6)})
			for _, j := range jobs {
				if g.oneIn(3) {
					time.Sleep(g.some(2 * time.Second))
				}
				if err := s.Add(j); err != nil {
					t.Fatal(err)
				}
			}
			s.Wait()
			s.Drain()
			took += time.Since(began)
			want := newFiles()
			for i, j := range jobs {
				serial += j.run + j.behind
				if j.torn {
					t.Errorf("seed %d: what job %d read changed while it ran", seed, i)
				}
				if seen := want.read(j.reads); seen != j.seen {
					t.Fatalf("seed %d: job %d did not read what it would have, one after the other", seed, i)
				}
				want.write(j.seen, j.writes)
			}
			if !maps.Equal(got.content, want.content) {
				t.Errorf("seed %d: got files %v, want %v", seed, got.content, want.content)
			}
		})
	}
	if took > serial {
		t.Errorf("all turns took %v, and would have taken %v one job after the other: hardly any ran together", took, serial)
	}
}
