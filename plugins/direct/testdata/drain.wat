;; Makes one capability call, reads the whole answer in pieces of 64 KiB, keeps
;; none of it, and answers "ok".
(module
  (import "toolquay:host/1" "submit" (func $submit (param i32 i32) (result i32)))
  (import "toolquay:host/1" "read" (func $read (param i32 i32 i32) (result i32)))
  (memory (export "memory") 3)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}\02\00\00\00\02\00\00\00ok")
  (data (i32.const 512) "\01\00\00\00)\00\00\00{\22capability\22:\22test.echo\22,\22args\22:{\22n\22:1}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (local $id i32) (local $n i32)
    (local.set $id (call $submit (i32.const 512) (i32.const 49)))
    (loop $more
      (local.set $n (call $read (local.get $id) (i32.const 65536) (i32.const 65536)))
      (if (i32.lt_s (local.get $n) (i32.const 0)) (then unreachable))
      (br_if $more (local.get $n)))
    (i64.const 274877907013))
)
