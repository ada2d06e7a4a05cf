// Package seccomp makes filters of system calls out of tables; see seccomp(2). What the
// kernel looks up in user memory, such as the address of connect or the flags of clone3,
// is out of their sight, and of an argument they see the lower half: name only arguments
// that are 32 bits wide for the kernel too.
package seccomp
