;; Reports what it has put out, in two pieces, and answers "ok".
(module
  (import "toolquay:host/1" "progress" (func $progress (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}\02\00\00\00\02\00\00\00ok")
  (data (i32.const 512) "\01\00\00\009\00\00\00{\22progress\22:{\22message\22:\22building\22,\22output\22:\22one\5cntwo\5cn\22}}")
  (data (i32.const 768) "\01\00\00\00*\00\00\00{\22progress\22:{\22output\22:\22three\5cu001b[0m\5cn\22}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (call $progress (i32.const 512) (i32.const 65))
    (call $progress (i32.const 768) (i32.const 50))
    (i64.const 274877907013))
)
