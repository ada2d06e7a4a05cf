;; The guests of package runnertest, each an export. Built by
;;   wat2wasm suite.wat -o suite.wasm
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (import "extism:host/user" "toolquay_capability" (func $capability (param i64) (result i64)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 2)
  (global $calls (mut i32) (i32.const 48)) ;; "0"

  ;; put copies guest memory to a new block.
  (func $put (param $ptr i32) (param $len i32) (result i64)
    (local $block i64) (local $i i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $len))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $len)))
        (call $store_u8
          (i64.add (local.get $block) (i64.extend_i32_u (local.get $i)))
          (i32.load8_u (i32.add (local.get $ptr) (local.get $i))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (local.get $block))

  (func $output (param $ptr i32) (param $len i32)
    (call $output_set (call $put (local.get $ptr) (local.get $len)) (i64.extend_i32_u (local.get $len))))

  (func $answer_ok (result i32) (call $output (i32.const 0) (i32.const 2)) (i32.const 0))

  ;; ask makes the capability call and returns the block of its answer.
  (func $ask (result i64) (call $capability (call $put (i32.const 64) (i32.const 49))))

  ;; head_end is where the head of an answer ends: behind the frame's header of 8
  ;; bytes, in which its length stands.
  (func $head_end (param $answer i64) (result i64)
    (i64.add
      (i64.add (local.get $answer) (i64.const 8))
      (i64.shr_u (call $load_u64 (local.get $answer)) (i64.const 32))))

  ;; failed reports whether an answer tells of an error: {"error" and not {"ok".
  (func $failed (param $answer i64) (result i32)
    (i32.eq (call $load_u8 (i64.add (local.get $answer) (i64.const 10))) (i32.const 101)))

  (func (export "ok") (result i32) (call $answer_ok))

  (func (export "echo") (result i32)
    (call $output_set (call $input_offset) (call $input_length))
    (i32.const 0))

  (func (export "counter") (result i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i32.store8 (i32.const 300) (i32.add (i32.load8_u (i32.const 300)) (i32.const 1)))
    ;; Memory and globals have to be clean.
    (if (i32.ne (global.get $calls) (i32.add (i32.load8_u (i32.const 300)) (i32.const 48))) (then unreachable))
    (i32.store8 (i32.const 301) (global.get $calls))
    (call $output (i32.const 301) (i32.const 1))
    (i32.const 0))

  (func (export "grow") (result i32)
    (block $full (loop $again (br_if $full (i32.eq (memory.grow (i32.const 1)) (i32.const -1))) (br $again)))
    (memory.fill (i32.const 4096) (i32.const 120) (memory.size))
    (call $output (i32.const 4096) (memory.size))
    (i32.const 0))

  (func (export "spin") (result i32) (loop $l (br $l)) (i32.const 0))

  (func (export "trap") (result i32) (unreachable))

  ;; exit_zero has answered by then.
  (func (export "exit_zero") (result i32)
    (drop (call $answer_ok))
    (call $proc_exit (i32.const 0))
    (i32.const 0))

  (func (export "log_flood") (result i32) (local $n i32)
    (local.set $n (i32.const 1000000))
    (loop $again
      (call $log_info (call $put (i32.const 16) (i32.const 10)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (call $answer_ok))

  ;; pass_through sets what it is told of a failure as its error, as it came.
  (func (export "pass_through") (result i32) (local $answer i64) (local $at i64) (local $end i64)
    (local.set $answer (call $ask))
    (local.set $at (call $head_end (local.get $answer)))
    (local.set $end (i64.add (local.get $answer) (call $length (local.get $answer))))
    (if (call $failed (local.get $answer)) (then
      (call $error_set (call $copy (i64.add (local.get $answer) (i64.const 8)) (local.get $at)))
      (return (i32.const 1))))
    ;; A body comes behind a header of 8 bytes.
    (if (i64.lt_u (local.get $at) (local.get $end)) (then
      (local.set $at (i64.add (local.get $at) (i64.const 8)))
      (call $output_set (local.get $at) (i64.sub (local.get $end) (local.get $at)))))
    (i32.const 0))

  ;; copy makes a block of a part of another one.
  (func $copy (param $from i64) (param $to i64) (result i64) (local $block i64) (local $i i64)
    (local.set $block (call $alloc (i64.sub (local.get $to) (local.get $from))))
    (loop $next
      (call $store_u8
        (i64.add (local.get $block) (local.get $i))
        (call $load_u8 (i64.add (local.get $from) (local.get $i))))
      (local.set $i (i64.add (local.get $i) (i64.const 1)))
      (br_if $next (i64.lt_u (i64.add (local.get $from) (local.get $i)) (local.get $to))))
    (local.get $block))

  ;; read_answer reads the answer into its own memory first.
  (func (export "read_answer") (result i32) (local $answer i64) (local $len i32) (local $i i32)
    (local.set $answer (call $ask))
    (if (call $failed (local.get $answer)) (then unreachable))
    (local.set $len (i32.wrap_i64 (call $length (local.get $answer))))
    (loop $next
      (i32.store8 (i32.add (i32.const 4096) (local.get $i))
        (call $load_u8 (i64.add (local.get $answer) (i64.extend_i32_u (local.get $i)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $len))))
    (call $output (i32.const 4096) (local.get $len))
    (i32.const 0))

  (func (export "submit_flood") (result i32) (local $n i32)
    (local.set $n (i32.const 20000))
    (loop $again
      (drop (call $ask))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (call $answer_ok))

  (func (export "submit_endless") (result i32)
    (loop $again (drop (call $ask)) (br $again))
    (i32.const 0))

  ;; check traps where the guest's memory is not clean.
  (func $check (local $p i32)
    (local.set $p (i32.const 16384))
    (loop $next
      (if (i64.ne (i64.load (local.get $p)) (i64.const 0)) (then unreachable))
      (local.set $p (i32.add (local.get $p) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $p) (i32.mul (memory.size) (i32.const 65536))))))

  ;; stain traps where a new block of the kernel's memory is not clean, and fills
  ;; it.
  (func $stain (local $at i64) (local $end i64)
    (local.set $at (call $alloc (i64.const 262144)))
    (local.set $end (i64.add (local.get $at) (i64.const 262144)))
    (loop $next
      (if (i64.ne (call $load_u64 (local.get $at)) (i64.const 0)) (then unreachable))
      (call $store_u64 (local.get $at) (i64.const -1))
      (local.set $at (i64.add (local.get $at) (i64.const 8)))
      (br_if $next (i64.lt_u (local.get $at) (local.get $end)))))

  ;; dirty fills its own memory, also what it grows by, and the kernel's, to which
  ;; the host writes an answer too.
  (func (export "dirty") (result i32) (local $pages i32)
    (call $check)
    (local.set $pages (i32.const 1))
    (loop $grow
      (drop (memory.grow (local.get $pages)))
      (call $check)
      (local.set $pages (i32.add (local.get $pages) (i32.const 1)))
      (br_if $grow (i32.lt_u (local.get $pages) (i32.const 4))))
    (memory.fill (i32.const 16384) (i32.const 0xff)
      (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 16384)))
    (call $stain)
    (drop (call $ask))
    (call $answer_ok))

  (data (i32.const 0) "ok")
  (data (i32.const 16) "still here")                             ;; 10 bytes
  (data (i32.const 64) "\01\00\00\00\29\00\00\00{\"capability\":\"test.echo\",\"args\":{\"n\":1}}")) ;; 8 + 41
