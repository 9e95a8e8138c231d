import { allRequirements } from '../requirements/all-requirements.ts';
import { readCitations, tally } from '../requirements/tally.ts';

const { line, problems } = tally(allRequirements, readCitations(process.env.REQUIREMENTS_CITED || '.work/citations'));
console.log(line);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
