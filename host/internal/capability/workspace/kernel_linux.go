package workspace

import "golang.org/x/sys/unix"

// kernelMagic are the file systems in which reading a file may have effects,
// never end, or tell the secrets of a process.
var kernelMagic = map[uint32]bool{
	unix.PROC_SUPER_MAGIC:     true,
	unix.SYSFS_MAGIC:          true,
	unix.DEBUGFS_MAGIC:        true,
	unix.TRACEFS_MAGIC:        true,
	unix.SECURITYFS_MAGIC:     true,
	unix.SELINUX_MAGIC:        true,
	unix.CGROUP_SUPER_MAGIC:   true,
	unix.CGROUP2_SUPER_MAGIC:  true,
	unix.BPF_FS_MAGIC:         true,
	unix.PSTOREFS_MAGIC:       true,
	unix.EFIVARFS_MAGIC:       true,
	unix.DEVPTS_SUPER_MAGIC:   true,
	unix.BINFMTFS_MAGIC:       true,
	unix.NSFS_MAGIC:           true,
	unix.SOCKFS_MAGIC:         true,
	unix.PIPEFS_MAGIC:         true,
	unix.ANON_INODE_FS_MAGIC:  true,
	unix.RDTGROUP_SUPER_MAGIC: true,
	unix.SMACK_MAGIC:          true,
}

// magic takes the type of a file system, whose Go type differs by architecture.
func magic[T int32 | uint32 | int64](t T) uint32 { return uint32(t) }

// kernelOwned reports whether a file lies in one of those. A file system on a
// block device, whose major number is not 0, is none of them.
func kernelOwned(fd int, info Info) bool {
	if unix.Major(info.id.dev) != 0 {
		return false
	}
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && kernelMagic[magic(st.Type)]
}
