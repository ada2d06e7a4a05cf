;; State of every kind, to be put back: data, memory never written, memory that
;; grows, globals of all number types. PAGES is filled in by build.sh.
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") PAGES 200)
  (global $a (mut i32) (i32.const 7))
  (global $b (mut i64) (i64.const 8))
  (global $c (mut f32) (f32.const 1.5))
  (global $d (mut f64) (f64.const 2.5))
  (data (i32.const 64) "initial")

  ;; What a start does: writes memory, sets globals, grows by a page.
  (func (export "init")
    (i32.store (i32.const 70000) (i32.const 42))
    (global.set $a (i32.const 70))
    (drop (memory.grow (i32.const 1))))
  (func (export "init_random")
    (drop (call $random (i32.const 70000) (i32.const 8))))

  ;; Everything that a guest can see, in one number.
  (func (export "sum") (result i64)
    (local $p i32) (local $s i64)
    (loop $next
      (local.set $s (i64.add (i64.mul (local.get $s) (i64.const 31)) (i64.load (local.get $p))))
      (local.set $p (i32.add (local.get $p) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $p) (i32.mul (memory.size) (i32.const 65536)))))
    (i64.add (local.get $s) (i64.add (i64.extend_i32_u (global.get $a)) (i64.add (global.get $b)
      (i64.add (i64.extend_i32_u (i32.reinterpret_f32 (global.get $c))) (i64.reinterpret_f64 (global.get $d)))))))

  ;; Writes to every stride-th byte and to all globals.
  (func $scribble (export "scribble") (param $stride i32)
    (local $p i32)
    (global.set $a (i32.const -1)) (global.set $b (i64.const -1))
    (global.set $c (f32.const -1)) (global.set $d (f64.const nan))
    (loop $next
      (i32.store8 (local.get $p) (i32.const 0xa5))
      (local.set $p (i32.add (local.get $p) (local.get $stride)))
      (br_if $next (i32.lt_u (local.get $p) (i32.mul (memory.size) (i32.const 65536))))))
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "peek") (param i32) (result i32) (i32.load8_u (local.get 0)))
  (func $recurse (export "recurse") (param i32) (result i32)
    (if (result i32) (i32.eqz (local.get 0)) (then (i32.const 0))
      (else (i32.add (i32.const 1) (call $recurse (i32.sub (local.get 0) (i32.const 1)))))))
  (func (export "trap") (call $scribble (i32.const 512)) unreachable)
  (func (export "spin") (call $scribble (i32.const 512)) (loop $l (br $l)))
)
