-- Three tables of a database that OpenCode 1.18.33 made, with a session in which a model was played.

CREATE TABLE `session` (
  `id` text PRIMARY KEY,
  `project_id` text NOT NULL,
  `workspace_id` text,
  `parent_id` text,
  `slug` text NOT NULL,
  `directory` text NOT NULL,
  `path` text,
  `title` text NOT NULL,
  `version` text NOT NULL,
  `share_url` text,
  `summary_additions` integer,
  `summary_deletions` integer,
  `summary_files` integer,
  `summary_diffs` text,
  `metadata` text,
  `cost` real DEFAULT 0 NOT NULL,
  `tokens_input` integer DEFAULT 0 NOT NULL,
  `tokens_output` integer DEFAULT 0 NOT NULL,
  `tokens_reasoning` integer DEFAULT 0 NOT NULL,
  `tokens_cache_read` integer DEFAULT 0 NOT NULL,
  `tokens_cache_write` integer DEFAULT 0 NOT NULL,
  `revert` text,
  `permission` text,
  `agent` text,
  `model` text,
  `time_created` integer NOT NULL,
  `time_updated` integer NOT NULL,
  `time_compacting` integer,
  `time_archived` integer
);
CREATE INDEX `session_project_idx` ON `session` (`project_id`);
CREATE INDEX `session_workspace_idx` ON `session` (`workspace_id`);
CREATE INDEX `session_parent_idx` ON `session` (`parent_id`);
CREATE TABLE `message` (
  `id` text PRIMARY KEY,
  `session_id` text NOT NULL,
  `time_created` integer NOT NULL,
  `time_updated` integer NOT NULL,
  `data` text NOT NULL
);
CREATE INDEX `message_session_time_created_id_idx` ON `message` (`session_id`,`time_created`,`id`);
CREATE TABLE `part` (
  `id` text PRIMARY KEY,
  `message_id` text NOT NULL,
  `session_id` text NOT NULL,
  `time_created` integer NOT NULL,
  `time_updated` integer NOT NULL,
  `data` text NOT NULL
);
CREATE INDEX `part_message_id_id_idx` ON `part` (`message_id`,`id`);
CREATE INDEX `part_session_idx` ON `part` (`session_id`);
INSERT INTO session VALUES (
  'ses_df2d036cfffeGetcLuCGmVTE4P',
  'global',
  NULL,
  NULL,
  'sunny-knight',
  '/projects/shop',
  '',
  'A title',
  '1.18.33',
  NULL,
  0,
  0,
  0,
  NULL,
  NULL,
  0.0,
  2,
  2,
  0,
  0,
  0,
  NULL,
  '[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]',
  'build',
  '{"id":"played","providerID":"played","variant":"default"}',
  1795517565233,
  1795517570474,
  NULL,
  NULL
);
INSERT INTO message VALUES (
  'msg_20d2fc9c0001XZrR59NIyXPWT7',
  'ses_df2d036cfffeGetcLuCGmVTE4P',
  1795517565376,
  1795517570328,
  '{"role":"user","time":{"created":1795517565376},"agent":"build","model":{"providerID":"played","modelID":"played"},"summary":{"diffs":[]}}'
);
INSERT INTO message VALUES (
  'msg_20d2fd0cb001Yu9ARQNtutEyja',
  'ses_df2d036cfffeGetcLuCGmVTE4P',
  1795517567179,
  1795517570070,
  '{"parentID":"msg_20d2fc9c0001XZrR59NIyXPWT7","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/projects/shop","root":"/projects/shop"},"cost":0,"tokens":{"total":2,"input":1,"output":1,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"played","providerID":"played","time":{"created":1795517567179,"completed":1795517570069},"finish":"tool-calls"}'
);
INSERT INTO message VALUES (
  'msg_20d2fdc1f001bqCipbdZrgNzP7',
  'ses_df2d036cfffeGetcLuCGmVTE4P',
  1795517570079,
  1795517570460,
  '{"parentID":"msg_20d2fc9c0001XZrR59NIyXPWT7","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/projects/shop","root":"/projects/shop"},"cost":0,"tokens":{"total":2,"input":1,"output":1,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"played","providerID":"played","time":{"created":1795517570079,"completed":1795517570459},"finish":"stop"}'
);
INSERT INTO part VALUES (
  'prt_20d2fc9cb001GFPtrRRoxbb015',
  'msg_20d2fc9c0001XZrR59NIyXPWT7',
  'ses_df2d036cfffeGetcLuCGmVTE4P',
  1795517567139,
  1795517567142,
  '{"type":"text","text":"\"Do what is to be done, please, and say so.\""}'
);
INSERT INTO part VALUES (
  'prt_20d2fdaf80016PBU3h3BUzZSaF',
  'msg_20d2fd0cb001Yu9ARQNtutEyja',
  'ses_df2d036cfffeGetcLuCGmVTE4P',
  1795517569784,
  1795517569786,
  '{"snapshot":"e22b5fff04de41c427ec4a451ddd9ebe19b7b5a0","type":"step-start"}'
);
INSERT INTO part VALUES (
  'prt_20d2fdafd0016G8Rp0YdAxO0O2',
  'msg_20d2fd0cb001Yu9ARQNtutEyja',
  'ses_df2d036cfffeGetcLuCGmVTE4P',
  1795517569789,
  1795517569863,
  '{"type":"tool","tool":"read","callID":"toolu_b5a90f0c-3322-471b-b4b3-f85a231b1af1","state":{"status":"completed","input":{"filePath":"/projects/shop/README.md"},"output":"<path>/projects/shop/README.md</path>\n<type>file</type>\n<content>\n1: # Widget\n\n(End of file - total 1 lines)\n</content>","metadata":{"preview":"# Widget","truncated":false,"loaded":[],"display":{"type":"file","path":"/projects/shop/README.md","text":"# Widget","lineStart":1,"lineEnd":1,"totalLines":1,"truncated":false}},"title":"README.md","time":{"start":1795517569806,"end":1795517569861}}}'
);
INSERT INTO part VALUES (
  'prt_20d2fdba2001653WEDXKoUcWNL',
  'msg_20d2fd0cb001Yu9ARQNtutEyja',
  'ses_df2d036cfffeGetcLuCGmVTE4P',
  1795517569954,
  1795517569958,
  '{"reason":"tool-calls","snapshot":"e22b5fff04de41c427ec4a451ddd9ebe19b7b5a0","type":"step-finish","tokens":{"total":2,"input":1,"output":1,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}'
);
INSERT INTO part VALUES (
  'prt_20d2fdcec0012grRuUx7HN2n3U',
  'msg_20d2fdc1f001bqCipbdZrgNzP7',
  'ses_df2d036cfffeGetcLuCGmVTE4P',
  1795517570284,
  1795517570288,
  '{"snapshot":"e22b5fff04de41c427ec4a451ddd9ebe19b7b5a0","type":"step-start"}'
);
INSERT INTO part VALUES (
  'prt_20d2fdcf40015PoOZe53htuix1',
  'msg_20d2fdc1f001bqCipbdZrgNzP7',
  'ses_df2d036cfffeGetcLuCGmVTE4P',
  1795517570292,
  1795517570310,
  '{"type":"text","text":"I have read it.","time":{"start":1795517570292,"end":1795517570302}}'
);
INSERT INTO part VALUES (
  'prt_20d2fdd59001dESzd3He29JTzr',
  'msg_20d2fdc1f001bqCipbdZrgNzP7',
  'ses_df2d036cfffeGetcLuCGmVTE4P',
  1795517570393,
  1795517570395,
  '{"reason":"stop","snapshot":"e22b5fff04de41c427ec4a451ddd9ebe19b7b5a0","type":"step-finish","tokens":{"total":2,"input":1,"output":1,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}'
);
