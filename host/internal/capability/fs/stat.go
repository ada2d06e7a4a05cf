package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
)

type statPlan struct {
	held
	hash bool
}

func planStat(scope capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.StatArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	h, err := hold(scope, args.Path)
	if err != nil {
		return nil, err
	}
	return &statPlan{held: h, hash: args.Hash}, nil
}

// Do tells what was found when the path was resolved; of a file whose hash is asked
// for, what was found when it was opened for that.
func (p *statPlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	if err := p.node.Err(); err != nil {
		return abi.Answer{}, err
	}
	info, sum := p.node.Info, ""
	if p.hash && info.Kind == abi.KindFile {
		var err error
		if info, sum, err = hashFile(ctx, p.node); err != nil {
			return abi.Answer{}, err
		}
	}
	return abi.Answer{OK: abi.StatOK{
		Path:    p.node.Real,
		Kind:    info.Kind,
		Size:    info.Size,
		ModTime: info.ModTime.UnixMilli(),
		Hash:    sum,
	}}, nil
}

// hashFile returns the SHA-256, in hexadecimal, of the file as long as it was when it
// was opened.
func hashFile(ctx context.Context, node *workspace.Overlaid) (workspace.Info, string, error) {
	f, info, err := node.Open()
	if err != nil {
		return info, "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	h, src, buf := sha256.New(), io.NewSectionReader(f, 0, info.Size), make([]byte, min(chunkSize, info.Size+1))
	read := int64(0)
	for {
		if err := interrupted(ctx); err != nil {
			return info, "", err
		}
		n, err := src.Read(buf)
		h.Write(buf[:n])
		read += int64(n)
		switch {
		case errors.Is(err, io.EOF) && read < info.Size:
			return info, "", abi.Errorf(abi.CodeChanged, "%s became shorter while it was read", node.Target)
		case errors.Is(err, io.EOF):
			return info, hex.EncodeToString(h.Sum(nil)), nil
		case err != nil:
			return info, "", abi.Errorf(abi.CodeIO, "reading %s: %w", node.Target, err)
		}
	}
}
