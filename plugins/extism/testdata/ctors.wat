;; A guest that counts how often its runtime was initialised, and how. Built by
;;   wat2wasm ctors.wat -o ctors.wasm
(module
  (memory (export "memory") 1)
  (global $count (mut i32) (i32.const 0))
  (func (export "__wasm_call_ctors") (global.set $count (i32.add (global.get $count) (i32.const 1))))
  (func (export "_start") (global.set $count (i32.add (global.get $count) (i32.const 10))))
  (func (export "count") (result i32) (global.get $count)))
