;; Makes one capability call, waits for it, and answers with every byte of the
;; answer, header and all, read in pieces of 7 bytes.
(module
  (import "toolquay:host/1" "submit" (func $submit (param i32 i32) (result i32)))
  (import "toolquay:host/1" "wait" (func $wait (param i32 i32) (result i64)))
  (import "toolquay:host/1" "read" (func $read (param i32 i32 i32) (result i32)))
  (memory (export "memory") 64)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}")
  (data (i32.const 512) "\01\00\00\00)\00\00\00{\22capability\22:\22test.echo\22,\22args\22:{\22n\22:1}}")
  ;; A bump allocator that grows memory as it needs: the host asks for room once
  ;; a call, and every call has an instance of its own.
  (global $next (mut i32) (i32.const 4096))
  (func $alloc (export "alloc") (param $len i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $next))
    (global.set $next (i32.and (i32.add (i32.add (local.get $at) (local.get $len)) (i32.const 15)) (i32.const -16)))
    (if (i32.gt_u (global.get $next) (i32.mul (memory.size) (i32.const 65536)))
      (then
        (drop (memory.grow (i32.add (i32.const 1)
          (i32.shr_u (i32.sub (global.get $next) (i32.mul (memory.size) (i32.const 65536))) (i32.const 16)))))))
    (local.get $at))
  (func (export "call") (param i32 i32) (result i64)
    (local $id i32) (local $out i32) (local $at i32) (local $n i32)
    (local.set $id (call $submit (i32.const 512) (i32.const 49)))
    (i32.store (i32.const 1024) (local.get $id))
    (drop (call $wait (i32.const 1024) (i32.const 1)))
    (local.set $out (i32.const 65536))
    (memory.copy (local.get $out) (i32.const 64) (i32.const 59))
    (local.set $at (i32.add (local.get $out) (i32.const 67)))
    (block $end
      (loop $more
        (local.set $n (call $read (local.get $id) (local.get $at) (i32.const 7)))
        (br_if $end (i32.le_s (local.get $n) (i32.const 0)))
        (local.set $at (i32.add (local.get $at) (local.get $n)))
        (br $more)))
    (if (i32.lt_s (local.get $n) (i32.const 0)) (then unreachable))
    (i32.store (i32.add (local.get $out) (i32.const 59)) (i32.const 1))
    (i32.store (i32.add (local.get $out) (i32.const 63))
      (i32.sub (local.get $at) (i32.add (local.get $out) (i32.const 67))))
    (i64.or (i64.shl (i64.extend_i32_u (local.get $out)) (i64.const 32))
      (i64.extend_i32_u (i32.sub (local.get $at) (local.get $out)))))
)
