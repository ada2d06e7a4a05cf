// Package hooks runs what an operator hangs into the way of a tool call:
// commands, and Go functions of an embedder's.
//
//	set, err := hooks.Compile([]hooks.Hook{{
//		Event:   hooks.PreToolUse,
//		Matcher: "Edit|Write",
//		Shell:   "./ci/protect-generated",
//		Source:  permissions.Source{Kind: permissions.SourceProject, File: file, Line: 12},
//	}}, hooks.Options{Environ: os.Environ(), Project: root})
//	...
//	if set.For(hooks.PreToolUse, tool, aliases) {
//		outcome := set.PreToolUse(ctx, hooks.Input{...})
//	}
//
// # What a hook is told
//
// A command gets one JSON document on its standard input, an object with
// session_id, turn_id, agent, team, chain, parent, depth, cwd, permission_mode,
// hook_event_name, tool_name, tool_input, tool_use_id, plugin, mcp_server, mcp_tool and
// binding, without those that are empty of team, parent, depth, plugin, mcp_server, mcp_tool
// and binding (mcp_tool is the MCP server's own name for the tool); after a call that ran also tool_response
// (content, is_error, structured), and after one that could not error, error_code
// and is_interrupt: whether the user's interrupt ended the call, and not a time limit,
// a trap, the failure of another call or the end of the session; with TaskCreated and
// TaskCompleted task_id, task_subject, task_description and task_owner; with WorktreeCreated and
// WorktreeRemoved worktree_name, worktree_path, worktree_branch and main_worktree_path. Of a text that is too
// long to hold, content has the beginning and whole (path, bytes): the file that all of
// it lies in while the hook runs. A hook that looks for something in what tools answer
// must read that. Its environment holds the variables that [Options.Environ] has of a
// fixed list (PATH, HOME, the locale ...), those its configuration names, and
// TOOLQUAY_HOOK_EVENT, TOOLQUAY_TOOL, TOOLQUAY_SESSION_ID, TOOLQUAY_CWD and
// TOOLQUAY_PROJECT_DIR: nothing else, so that the host's secrets do not reach it
// unasked.
//
// # What a hook answers
//
//	exit 0, nothing printed   no opinion
//	exit 0, a JSON object     what it says, see below
//	exit 2                    deny; standard error is the reason, for the model
//	anything else             the hook failed
//
// The object, of which everything may be left out:
//
//	{
//	  "continue": false, "stopReason": "...",    stop the loop after this call
//	  "systemMessage": "...",                    for the user
//	  "decision": "allow|approve|ask|deny|block", "reason": "...",
//	  "hookSpecificOutput": {
//	    "hookEventName": "PreToolUse",
//	    "permissionDecision": "allow|ask|deny", "permissionDecisionReason": "...",
//	    "updatedInput": {...},                   before the call
//	    "updatedOutput": "..." or [blocks],      after it
//	    "additionalContext": "...",              for the model
//	    "worktreePath": "..."                    at WorktreeCreated, see below
//	  }
//	}
//
// At TaskCreated and TaskCompleted, which are asked while a call runs, deny and every
// failure refuse that a task comes to be, or is completed. There is nothing to ask and
// nothing to rewrite. So it is at WorktreeCreated, where a no removes the worktree that was
// made, and at WorktreeRemoved, where it comes too late and the model is told.
//
// Where there is no git repository, WorktreeCreated comes with an empty worktree_path: a hook that
// answers with a worktreePath has made the directory that the session works in, and one of
// WorktreeRemoved is to remove it.
//
// Of two decisions in one answer the stricter counts. Keys that are not known are
// ignored. What is known must be right: text that is not JSON, a duplicate key, a
// wrong type, null, an unknown decision, another event's name, a key in another
// case or at the other level than above, or one that has no meaning at this event,
// all make the answer nonsense, and the hook failed.
//
// A hook that failed, ran out of time, or printed nonsense asks: it never allows,
// and never counts as without opinion. After a call there is nothing left to ask
// about; its failure is recorded and told to the user.
//
// # Several hooks
//
// Those of one event run side by side, each on the same facts. Deny is stronger
// than ask, ask than allow. Contexts and messages come in the order of
// configuration; one that says so is enough to stop the loop.
//
// The first rewriting of the input counts, in the order of configuration; another
// that differs from it asks. An allow was said of the input its hook saw: it
// counts for the rewritten input only if the hook wrote that itself. All hooks
// that did not are run once more, on the input as rewritten, so that no hook's
// deny is evaded by another hook's rewriting. Of several rewritings of the output
// the last counts.
//
// After a call nothing can be undone. A deny is then feedback for the model.
package hooks
