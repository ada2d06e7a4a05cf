;; Traps where its memory is not all zero, also what it grows by; then fills all
;; of it, lets the host write to it too, and answers "ok".
(module
  (import "toolquay:host/1" "submit" (func $submit (param i32 i32) (result i32)))
  (import "toolquay:host/1" "wait" (func $wait (param i32 i32) (result i64)))
  (import "toolquay:host/1" "read" (func $read (param i32 i32 i32) (result i32)))
  (memory (export "memory") 2 9)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}\02\00\00\00\02\00\00\00ok")
  (data (i32.const 512) "\01\00\00\00)\00\00\00{\22capability\22:\22test.echo\22,\22args\22:{\22n\22:1}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func $check
    (local $p i32)
    (local.set $p (i32.const 16384))
    (loop $next
      (if (i64.ne (i64.load (local.get $p)) (i64.const 0)) (then unreachable))
      (local.set $p (i32.add (local.get $p) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $p) (i32.mul (memory.size) (i32.const 65536))))))
  (func (export "call") (param i32 i32) (result i64)
    (local $pages i32)
    (call $check)
    (local.set $pages (i32.const 1))
    (loop $grow
      (drop (memory.grow (local.get $pages)))
      (call $check)
      (local.set $pages (i32.add (local.get $pages) (i32.const 1)))
      (br_if $grow (i32.lt_u (local.get $pages) (i32.const 4))))
    (memory.fill (i32.const 16384) (i32.const 0xff)
      (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 16384)))
    (i32.store (i32.const 1024) (call $submit (i32.const 512) (i32.const 49)))
    (drop (call $wait (i32.const 1024) (i32.const 1)))
    ;; The answer's head comes first, then its body.
    (drop (call $read (i32.load (i32.const 1024)) (i32.const 20000) (i32.const 100000)))
    (drop (call $read (i32.load (i32.const 1024)) (i32.const 20000) (i32.const 100000)))
    (i64.const 274877907013))
)
