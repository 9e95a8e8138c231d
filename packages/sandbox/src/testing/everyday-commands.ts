import { type EverydayCommand, PEOPLE, TABLES, TREE, WORDS } from './everyday-command.ts';

import { DATA, TABLES_AND_TEXT } from './everyday-data.ts';
import { ARCHIVES, FILES } from './everyday-files.ts';

const SHELL: readonly EverydayCommand[] = [
  {
    task: 'Run a command for each file that is found',
    programs: ['find'],
    command: `find . -name '*.txt' -exec wc -l {} + | tail -1; find d -type f -exec cat {} \\;`,
    files: { ...WORDS, ...TREE },
    output: /^ *6 total\n(X\nY|Y\nX)\n$/,
  },
  {
    task: 'Delete what is found',
    programs: ['find'],
    command: `find . -name '*.txt' -delete; find . -type f`,
    files: { ...TREE, ...PEOPLE },
    output: './people.csv\n',
  },
  {
    task: 'Run a command for each line',
    programs: ['xargs'],
    command: 'ls *.csv | xargs -I{} cp {} {}.bak; find . -name "*.bak" -print0 | xargs -0 -n1 basename | sort',
    files: TABLES,
    output: 'cities.csv.bak\npeople.csv.bak\n',
  },
  {
    task: 'Add days to a date',
    programs: ['date'],
    command: `date -u -d '2026-01-31 +1 day' +%F; date -u -d '2026-03-10 2 weeks ago' +%F; date -u -d '2026-01-31 1 month' +%F`,
    output: '2026-02-01\n2026-02-24\n2026-03-03\n',
  },
  {
    task: 'Count the days between dates',
    programs: ['date'],
    command: 'echo $(( ($(date -u -d 2026-03-01 +%s) - $(date -u -d 2026-02-01 +%s)) / 86400 ))',
    output: '28\n',
  },
  { task: 'Format a time', programs: ['date'], command: 'date -u -d @0 +%FT%TZ', output: '1970-01-01T00:00:00Z\n' },
  {
    task: 'Write a file with a heredoc',
    programs: ['cat'],
    command: "n=5; cat > r.md <<EOF\n# Report $n\nEOF\ncat <<'EOF'\n$n\nEOF",
    output: '$n\n',
    after: { 'r.md': '# Report 5\n' },
  },
  {
    task: 'Read lines in a loop',
    programs: [],
    command: 'while IFS=, read -r id name n; do echo "$name"; done < people.csv',
    files: PEOPLE,
    output: 'name\nAnn\nBob\n',
  },
  {
    task: 'Use arrays and maps',
    programs: [],
    command: `declare -A m; while read -r w; do m[$w]=$((m[$w] + 1)); done < a.txt; x=(a b c); echo \${m[apple]} \${x[@]:1} \${#x[@]}`,
    files: WORDS,
    output: '2 b c 3\n',
  },
  {
    task: 'Use functions, `case` and patterns',
    programs: [],
    command: `f() { local y=$1; echo $((y * 2)); }; f 4; case a.txt in *.txt) echo t;; esac; [[ v12 =~ ^v([0-9]+)$ ]] && echo \${BASH_REMATCH[1]}`,
    output: '8\nt\n12\n',
  },
  {
    task: 'Stop at the first failure',
    programs: [],
    command: 'set -euo pipefail; (false | true) || echo failed; echo after',
    output: 'failed\nafter\n',
  },
  {
    task: 'Clean up with `trap`',
    programs: [],
    command: `trap 'echo bye' EXIT && echo hi`,
    output: 'hi\nbye\n',
    missing: 'no `trap`',
  },
  {
    task: 'Limit the time of a command',
    programs: ['timeout', 'sleep'],
    command: 'timeout 1 sleep 9; echo $?',
    output: '124\n',
  },
  {
    task: 'Compute with decimals',
    programs: ['awk'],
    command: `awk 'BEGIN { printf "%.3f\\n", 10 / 3 }'; printf '%05.2f\\n' 3.14159`,
    output: '3.333\n03.14\n',
  },
];

export const EVERYDAY_GROUPS = {
  Files: FILES,
  Archives: ARCHIVES,
  'Tables and text': TABLES_AND_TEXT,
  'JSON, databases and Python': DATA,
  'The shell itself': SHELL,
} as const satisfies Readonly<Record<string, readonly EverydayCommand[]>>;

export const EVERYDAY_COMMANDS: readonly EverydayCommand[] = Object.values(EVERYDAY_GROUPS).flat();
