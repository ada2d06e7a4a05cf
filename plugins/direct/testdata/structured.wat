;; Answers with its input as structured content.
(module
  (memory (export "memory") 2)
  (data (i32.const 64) "\01\00\00\00\19\00\00\00{\22structured\22:{\22part\22:0}}")
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
  (func (export "call") (param $ptr i32) (param $len i32) (result i64)
    (local $out i32) (local $head i32) (local $size i32)
    ;; The input is the message's first part: skip header, head and part header.
    (local.set $head (i32.load (i32.add (local.get $ptr) (i32.const 4))))
    (local.set $size (i32.load (i32.add (local.get $ptr) (i32.add (local.get $head) (i32.const 12)))))
    (local.set $out (call $alloc (i32.add (local.get $size) (i32.const 41))))
    (memory.copy (local.get $out) (i32.const 64) (i32.const 33))
    (i32.store (i32.add (local.get $out) (i32.const 33)) (i32.const 3))
    (i32.store (i32.add (local.get $out) (i32.const 37)) (local.get $size))
    (memory.copy (i32.add (local.get $out) (i32.const 41))
      (i32.add (local.get $ptr) (i32.add (local.get $head) (i32.const 16))) (local.get $size))
    (i64.or (i64.shl (i64.extend_i32_u (local.get $out)) (i64.const 32))
      (i64.extend_i32_u (i32.add (local.get $size) (i32.const 41)))))
)
