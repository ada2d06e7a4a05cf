;; A guest that does what its input says, so that tests can drive every function
;; of extism:host/env from outside. The input is a list of steps of 17 bytes: an
;; operation, then its operands a and b, 8 bytes each, little endian. The lowest
;; six bits of the first byte are the place of the operation in the table below;
;; bit 6 says that a is the number of an earlier step whose result is meant, bit 7
;; the same of b. Built by
;;   wat2wasm steps.wat -o steps.wasm
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "length_unsafe" (func $length_unsafe (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "input_load_u64" (func $input_load_u64 (param i64) (result i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "input_set" (func $input_set (param i64 i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "output_length" (func $output_length (result i64)))
  (import "extism:host/env" "output_offset" (func $output_offset (result i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "error_get" (func $error_get (result i64)))
  (import "extism:host/env" "memory_bytes" (func $memory_bytes (result i64)))
  (import "extism:host/env" "reset" (func $reset))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (import "extism:host/env" "log_trace" (func $log_trace (param i64)))
  (import "extism:host/env" "log_debug" (func $log_debug (param i64)))
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (import "extism:host/env" "log_warn" (func $log_warn (param i64)))
  (import "extism:host/env" "log_error" (func $log_error (param i64)))
  (import "extism:host/env" "get_log_level" (func $get_log_level (result i32)))
  (import "extism:host/env" "http_status_code" (func $http_status_code (result i32)))
  (import "extism:host/env" "http_headers" (func $http_headers (result i64)))
  (memory (export "memory") 4)
  (type $operation (func (param i64 i64) (result i64)))
  (table funcref (elem
    $alloc_ ;; 0
    $free_ ;; 1
    $length_ ;; 2
    $length_unsafe_ ;; 3
    $load_u8_ ;; 4
    $load_u64_ ;; 5
    $store_u8_ ;; 6
    $store_u64_ ;; 7
    $input_load_u8_ ;; 8
    $input_load_u64_ ;; 9
    $input_length_ ;; 10
    $input_offset_ ;; 11
    $input_set_ ;; 12
    $output_set_ ;; 13
    $output_length_ ;; 14
    $output_offset_ ;; 15
    $error_set_ ;; 16
    $error_get_ ;; 17
    $memory_bytes_ ;; 18
    $reset_ ;; 19
    $config_get_ ;; 20
    $var_get_ ;; 21
    $var_set_ ;; 22
    $log_trace_ ;; 23
    $log_debug_ ;; 24
    $log_info_ ;; 25
    $log_warn_ ;; 26
    $log_error_ ;; 27
    $get_log_level_ ;; 28
    $http_status_code_ ;; 29
    $http_headers_ ;; 30
    $add ;; 31
  ))

  (func $alloc_ (type $operation) (call $alloc (local.get 0)))
  (func $free_ (type $operation) (call $free (local.get 0)) (i64.const 0))
  (func $length_ (type $operation) (call $length (local.get 0)))
  (func $length_unsafe_ (type $operation) (call $length_unsafe (local.get 0)))
  (func $load_u8_ (type $operation) (i64.extend_i32_u (call $load_u8 (local.get 0))))
  (func $load_u64_ (type $operation) (call $load_u64 (local.get 0)))
  (func $store_u8_ (type $operation) (call $store_u8 (local.get 0) (i32.wrap_i64 (local.get 1))) (i64.const 0))
  (func $store_u64_ (type $operation) (call $store_u64 (local.get 0) (local.get 1)) (i64.const 0))
  (func $input_load_u8_ (type $operation) (i64.extend_i32_u (call $input_load_u8 (local.get 0))))
  (func $input_load_u64_ (type $operation) (call $input_load_u64 (local.get 0)))
  (func $input_length_ (type $operation) (call $input_length))
  (func $input_offset_ (type $operation) (call $input_offset))
  (func $input_set_ (type $operation) (call $input_set (local.get 0) (local.get 1)) (i64.const 0))
  (func $output_set_ (type $operation) (call $output_set (local.get 0) (local.get 1)) (i64.const 0))
  (func $output_length_ (type $operation) (call $output_length))
  (func $output_offset_ (type $operation) (call $output_offset))
  (func $error_set_ (type $operation) (call $error_set (local.get 0)) (i64.const 0))
  (func $error_get_ (type $operation) (call $error_get))
  (func $memory_bytes_ (type $operation) (call $memory_bytes))
  (func $reset_ (type $operation) (call $reset) (i64.const 0))
  (func $config_get_ (type $operation) (call $config_get (local.get 0)))
  (func $var_get_ (type $operation) (call $var_get (local.get 0)))
  (func $var_set_ (type $operation) (call $var_set (local.get 0) (local.get 1)) (i64.const 0))
  (func $log_trace_ (type $operation) (call $log_trace (local.get 0)) (i64.const 0))
  (func $log_debug_ (type $operation) (call $log_debug (local.get 0)) (i64.const 0))
  (func $log_info_ (type $operation) (call $log_info (local.get 0)) (i64.const 0))
  (func $log_warn_ (type $operation) (call $log_warn (local.get 0)) (i64.const 0))
  (func $log_error_ (type $operation) (call $log_error (local.get 0)) (i64.const 0))
  (func $get_log_level_ (type $operation) (i64.extend_i32_u (call $get_log_level)))
  (func $http_status_code_ (type $operation) (i64.extend_i32_u (call $http_status_code)))
  (func $http_headers_ (type $operation) (call $http_headers))
  (func $add (type $operation) (i64.add (local.get 0) (local.get 1)))

  (global $count (mut i32) (i32.const 0)) ;; of results, which are at 0x10000

  ;; take copies the input to address 0.
  (func $take
    (local $i i32)
    (block $done
      (loop $next
        (br_if $done (i64.ge_u (i64.extend_i32_u (local.get $i)) (call $input_length)))
        (i32.store8 (local.get $i) (call $input_load_u8 (i64.extend_i32_u (local.get $i))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next))))

  ;; operand is the operand at $at, or the result of the step it names.
  (func $operand (param $at i32) (param $named i32) (result i64)
    (if (result i64) (local.get $named)
      (then (i64.load offset=0x10000 (i32.shl (i32.load (local.get $at)) (i32.const 3))))
      (else (i64.load (local.get $at)))))

  (func $steps
    (local $at i32) (local $end i32) (local $op i32)
    (local.set $end (i32.wrap_i64 (call $input_length)))
    (call $take)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $op (i32.load8_u (local.get $at)))
        (i64.store offset=0x10000 (i32.shl (global.get $count) (i32.const 3))
          (call_indirect (type $operation)
            (call $operand (i32.add (local.get $at) (i32.const 1)) (i32.and (local.get $op) (i32.const 64)))
            (call $operand (i32.add (local.get $at) (i32.const 9)) (i32.and (local.get $op) (i32.const 128)))
            (i32.and (local.get $op) (i32.const 63))))
        (global.set $count (i32.add (global.get $count) (i32.const 1)))
        (local.set $at (i32.add (local.get $at) (i32.const 17)))
        (br $next))))

  ;; run outputs the result of every step, in hexadecimal.
  (func (export "run") (result i32)
    (local $block i64) (local $i i32) (local $digits i32) (local $digit i32)
    (call $steps)
    (local.set $digits (i32.shl (global.get $count) (i32.const 4)))
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $digits))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $digits)))
        (local.set $digit (i32.and (i32.const 15) (i32.shr_u
          (i32.load8_u offset=0x10000 (i32.shr_u (local.get $i) (i32.const 1)))
          (i32.shl (i32.eqz (i32.and (local.get $i) (i32.const 1))) (i32.const 2)))))
        (call $store_u8 (i64.add (local.get $block) (i64.extend_i32_u (local.get $i)))
          (i32.add (local.get $digit)
            (select (i32.const 87) (i32.const 48) (i32.gt_u (local.get $digit) (i32.const 9)))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (call $output_set (local.get $block) (i64.extend_i32_u (local.get $digits)))
    (i32.const 0))

  ;; raw leaves output and error as the steps set them.
  (func (export "raw") (result i32) (call $steps) (i32.const 0))

  ;; code returns the result of the last step.
  (func (export "code") (result i32)
    (call $steps)
    (i32.load offset=0x10000 (i32.shl (i32.sub (global.get $count) (i32.const 1)) (i32.const 3)))))
