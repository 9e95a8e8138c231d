import type { CliCommand, Context, Environment } from './command.ts';
import { addAccessCommands } from './commands/access.ts';
import { addAgencyCommands } from './commands/agencies.ts';
import { addAnswerCommand } from './commands/answer.ts';
import { addAttachmentCommand } from './commands/attachment.ts';
import { addAuditCommand } from './commands/audit.ts';
import { addChatCommand } from './commands/chat.ts';
import { addChatsCommands } from './commands/chats.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addEvalCommands } from './commands/evals.ts';
import { addFileCommands } from './commands/files.ts';
import { addInitCommand } from './commands/init.ts';
import { addInstallationCommands } from './commands/installation.ts';
import { addIntegrationCommands } from './commands/integrations.ts';
import { addLatencyCommand } from './commands/latency.ts';
import { addMemberCommands } from './commands/members.ts';
import { addNodeCommands } from './commands/nodes.ts';
import { addOverviewCommand } from './commands/overview.ts';
import { addOwnerCommands } from './commands/owners.ts';
import { addPeopleCommands } from './commands/people.ts';
import { addQuestionCommands } from './commands/questions.ts';
import { addRecordsCommand } from './commands/records.ts';
import { addRerunCommands } from './commands/reruns.ts';
import { addRunCommand } from './commands/run.ts';
import { addRunsCommands } from './commands/runs.ts';
import { addScheduleCommands } from './commands/schedules.ts';
import { addServeCommand } from './commands/serve.ts';
import { addPromptCommand, addStepsCommand } from './commands/steps.ts';
import { addUsageCommand } from './commands/usage.ts';
import { addWebhookCommands } from './commands/webhooks.ts';
import { newProgram, runProgram } from './run-program.ts';

/** Every command, in the order of the help. */
export function buildProgram(env: Environment, version: string): CliCommand {
  const context: Context = { env };
  const program = newProgram(version).explain({
    summary: 'the command line of Runwire',
    examples: ['runwire serve', 'runwire run "What is new?"', 'git diff | runwire run --chat review'],
  });
  program.commandsGroup('Server and project:');
  addServeCommand(program, context);
  addInitCommand(program, version);
  addAgencyCommands(program, context);
  addDoctorCommand(program, context);
  program.commandsGroup('Runs:');
  addChatCommand(program, context);
  addRunCommand(program, context);
  addAnswerCommand(program, context);
  addQuestionCommands(program, context);
  addRunsCommands(program, context);
  addStepsCommand(program, context);
  addAttachmentCommand(program, context);
  addPromptCommand(program, context);
  addRerunCommands(program, context);
  addEvalCommands(program, context);
  addScheduleCommands(program, context);
  program.commandsGroup('Chats:');
  addChatsCommands(program, context);
  program.commandsGroup('Files:');
  addFileCommands(program, context);
  program.commandsGroup('Members and usage:');
  addMemberCommands(program, context);
  addUsageCommand(program, context);
  addLatencyCommand(program, context);
  addOverviewCommand(program, context);
  addRecordsCommand(program, context);
  program.commandsGroup('Integrations and access:');
  addIntegrationCommands(program, context);
  addWebhookCommands(program, context);
  addOwnerCommands(program, context);
  addPeopleCommands(program, context);
  addAuditCommand(program, context);
  addAccessCommands(program, context);
  program.commandsGroup('Installation:');
  addNodeCommands(program, context);
  addInstallationCommands(program, context);
  program.commandsGroup('Shell:');
  addCompletionCommand(program);
  return program;
}

/** Runs one command line. The exit code of the process tells how it ended. */
export const runCommand = (args: readonly string[], env: Environment, version: string): Promise<void> =>
  runProgram(buildProgram(env, version), args);
