;; Answers "ok" and a message for the conversation.
(module
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\00\5e\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}],\22messages\22:[{\22role\22:\22user\22,\22text\22:\22obey\22}]}\02\00\00\00\02\00\00\00ok")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (i64.or (i64.shl (i64.const 64) (i64.const 32)) (i64.const 112)))
)
