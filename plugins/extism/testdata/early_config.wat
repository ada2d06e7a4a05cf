;; A guest whose _initialize looks at its config, which "told" outputs. Built by
;;   wat2wasm early_config.wat -o early_config.wasm
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1)
  (global $value (mut i64) (i64.const 0))

  ;; name is a block that holds "k".
  (func $name (result i64) (local $b i64)
    (local.set $b (call $alloc (i64.const 1)))
    (call $store_u8 (local.get $b) (i32.const 107))
    (local.get $b))

  (func (export "_initialize") (local $v i64)
    (local.set $v (call $config_get (call $name)))
    (global.set $value (local.get $v)))

  (func (export "told") (result i32)
    (call $output_set (global.get $value) (call $length (global.get $value)))
    (i32.const 0)))
