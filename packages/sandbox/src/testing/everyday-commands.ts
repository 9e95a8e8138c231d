import type { SandboxCase } from './sandbox-conformance.ts';

/** What models do every day. docs/sandbox-commands.md shows the list as a table, and a test compares both. */
export interface EverydayCommand extends Pick<SandboxCase, 'command' | 'files' | 'output' | 'after'> {
  readonly task: string;
  /** The programs that it needs, as the page shows them. Builtins of bash are not among them. */
  readonly programs: readonly string[];
  /** Why just-bash cannot do it: it then fails with an exit code, and is never silently wrong. Absent if it can. */
  readonly missing?: string;
  /** A file in the folder afterwards that must be a PNG picture. */
  readonly picture?: string;
}

const NO_PROGRAM = 'no such program';
const WORDS = { 'a.txt': 'pear\napple\nfig\napple\n' };
const PEOPLE = { 'people.csv': 'id,name,n\n1,Ann,5\n2,Bob,7\n' };
const TABLES = { ...PEOPLE, 'cities.csv': 'id,city\n1,Oslo\n2,Rome\n' };
const TREE = { 'd/x.txt': 'X\n', 'd/e/y.txt': 'Y\n' };
const RECORDS = { 'o.json': '[{"n":1,"k":"a"},{"n":2,"k":"b"},{"n":4,"k":"a"}]\n' };

const FILES: readonly EverydayCommand[] = [
  { task: 'Copy a file', programs: ['cp'], command: 'cp a.txt b.txt; cat b.txt', files: WORDS, output: WORDS['a.txt'] },
  {
    task: 'Copy a folder, with `-r` or `-a`',
    programs: ['cp', 'ls'],
    command: 'cp -r d f; cp -a d g; ls f g/e',
    files: TREE,
    output: /^f:\ne\nx\.txt\n\ng\/e:\ny\.txt\n/,
  },
  {
    task: 'Move and rename',
    programs: ['mv'],
    command: 'mv a.txt d/b.txt; mv d z',
    files: { ...WORDS, ...TREE },
    output: '',
    after: { 'z/b.txt': WORDS['a.txt'], 'z/x.txt': 'X\n', 'z/e/y.txt': 'Y\n' },
  },
  {
    task: 'Make and remove folders',
    programs: ['mkdir', 'rmdir', 'rm'],
    command: 'mkdir -p q/{v,w}; rmdir q/v; rm -r d; ls; ls q',
    files: TREE,
    output: 'q\nw\n',
  },
  {
    task: 'Make a symbolic link and read through it',
    programs: ['ln', 'readlink'],
    command: 'ln -s d l; cat l/e/y.txt; readlink l; rm l',
    files: TREE,
    output: 'Y\nd\n',
  },
  {
    task: 'Make a hard link',
    programs: ['ln'],
    command: 'ln a.txt b.txt; wc -l < b.txt',
    files: WORDS,
    output: /^ *4\n$/,
  },
  {
    task: 'Set the mode of a script and run it',
    programs: ['chmod'],
    command: 'echo \'echo "arg $1"\' > s.sh; chmod +x s.sh; ./s.sh 7',
    output: 'arg 7\n',
  },
  {
    task: 'Use a temporary file and folder',
    programs: ['mktemp'],
    command: 't=$(mktemp -d) && f=$(mktemp) && echo hi > $t/f && cat $t/f $f && cd /tmp && [ -d $t ] && echo ok',
    output: 'hi\nok\n',
  },
  {
    task: 'Find the absolute path',
    programs: ['realpath', 'basename', 'dirname'],
    command: 'realpath d/../a.txt; basename /a/b.txt .txt; dirname /a/b.txt',
    files: { ...WORDS, ...TREE },
    output: '/app/mnt/a.txt\nb\n/a\n',
  },
  {
    task: 'Show the size of a file',
    programs: ['stat', 'wc'],
    command: "stat -c '%n %s' a.txt",
    files: WORDS,
    output: 'a.txt 21\n',
  },
  {
    task: 'Count the files that a pattern names',
    programs: ['ls'],
    command: 'ls *.csv | wc -l',
    files: TABLES,
    output: /^ *2\n$/,
  },
  {
    task: 'Split a file',
    programs: ['split'],
    command: 'split -l 2 a.txt part-; ls part-*',
    files: WORDS,
    output: 'part-aa\npart-ab\n',
  },
  {
    task: 'Compare files',
    programs: ['diff'],
    command: 'diff a.txt a.txt && echo same; diff -u a.txt d/x.txt | grep -c "^-"',
    files: { ...WORDS, ...TREE },
    output: 'same\n5\n',
  },
  {
    task: 'Compare folders',
    programs: ['diff'],
    command: 'cp -r d f; diff -r d f && echo same',
    files: TREE,
    output: 'same\n',
    missing: 'no option `-r`',
  },
  {
    task: 'Compute a checksum',
    programs: ['sha256sum', 'md5sum'],
    command: 'sha256sum a.txt | cut -c1-8; md5sum a.txt | cut -c1-8',
    files: WORDS,
    output: '08ac0db6\n2eb12aa0\n',
  },
  { task: 'Encode and decode base64', programs: ['base64'], command: 'printf hi | base64 | base64 -d', output: 'hi' },
  { task: 'Detect the type of a file', programs: ['file'], command: 'file a.txt', files: WORDS, output: /ASCII text/ },
];

const ARCHIVES: readonly EverydayCommand[] = [
  {
    task: 'Archive and unpack with `tar` and gzip',
    programs: ['tar', 'gzip'],
    command:
      'tar czf t.tgz d && mkdir u && tar xzf t.tgz -C u --strip-components=1 && tar tzf t.tgz | wc -l && cat u/e/y.txt',
    files: TREE,
    output: /^ *4\nY\n$/,
  },
  {
    task: 'Compress with gzip',
    programs: ['gzip', 'zcat'],
    command: 'gzip -k a.txt && zcat a.txt.gz | wc -l',
    files: WORDS,
    output: /^ *4\n$/,
  },
  {
    task: 'Archive with `tar` and bzip2',
    programs: ['tar', 'bzip2'],
    command: 'tar cjf t.tbz d && mkdir u && tar xjf t.tbz -C u && cat u/d/x.txt',
    files: TREE,
    output: 'X\n',
  },
  {
    task: 'Archive with `tar` and xz',
    programs: ['tar', 'xz'],
    command: 'tar cJf t.txz d && tar tJf t.txz | wc -l',
    files: TREE,
    output: '4\n',
    missing: 'no xz',
  },
  {
    task: 'Archive and unpack with `zip`',
    programs: ['zip', 'unzip'],
    command: 'zip -qr d.zip d && mkdir u && cd u && unzip -q ../d.zip && cat d/e/y.txt',
    files: TREE,
    output: 'Y\n',
    missing: NO_PROGRAM,
  },
];

const TABLES_AND_TEXT: readonly EverydayCommand[] = [
  {
    task: 'Join two CSV files',
    programs: ['join'],
    command: 'join -t, people.csv cities.csv',
    files: TABLES,
    output: 'id,name,n,city\n1,Ann,5,Oslo\n2,Bob,7,Rome\n',
  },
  {
    task: 'Join two CSV files in any order',
    programs: ['awk'],
    command: `awk -F, 'NR==FNR{c[$1]=$2;next} {print $0","c[$1]}' cities.csv people.csv | tail -1`,
    files: TABLES,
    output: '2,Bob,7,Rome\n',
  },
  {
    task: 'Put columns side by side',
    programs: ['paste'],
    command: 'paste -d, people.csv cities.csv | tail -1',
    files: TABLES,
    output: '2,Bob,7,2,Rome\n',
  },
  {
    task: 'Cut columns out',
    programs: ['cut', 'tail'],
    command: 'cut -d, -f2 people.csv | tail -n +2',
    files: PEOPLE,
    output: 'Ann\nBob\n',
  },
  {
    task: 'Leave columns out',
    programs: ['cut'],
    command: 'cut -d, -f2 --complement people.csv',
    files: PEOPLE,
    output: 'id,n\n1,5\n2,7\n',
    missing: 'no option `--complement`',
  },
  {
    task: 'Align columns',
    programs: ['column'],
    command: 'column -t -s, people.csv | tail -1',
    files: PEOPLE,
    output: '2   Bob   7\n',
  },
  {
    task: 'Sum a column',
    programs: ['awk'],
    command: `awk -F, 'NR>1{s+=$3} END{printf "%.2f\\n", s/2}' people.csv`,
    files: PEOPLE,
    output: '6.00\n',
  },
  {
    task: 'Select long lines',
    programs: ['awk'],
    command: `awk 'length > 4' a.txt`,
    files: WORDS,
    output: 'apple\napple\n',
  },
  {
    task: 'Sort by a column',
    programs: ['sort'],
    command: 'sort -t, -k3,3nr people.csv | head -1',
    files: PEOPLE,
    output: '2,Bob,7\n',
  },
  {
    task: 'Count values',
    programs: ['sort', 'uniq'],
    command: 'sort a.txt | uniq -c | sort -rn | head -1',
    files: WORDS,
    output: /^ *2 apple\n$/,
  },
  {
    task: 'Find common lines',
    programs: ['comm'],
    command: `comm -12 <(sort a.txt) <(printf 'fig\\nkiwi\\n')`,
    files: WORDS,
    output: 'fig\n',
  },
  {
    task: 'Shuffle lines',
    programs: ['shuf'],
    command: 'shuf -n 9 -e only',
    files: WORDS,
    output: 'only\n',
    missing: NO_PROGRAM,
  },
  {
    task: 'Replace text in a file',
    programs: ['sed'],
    command: `sed -i 's/apple/plum/g' a.txt; cat a.txt`,
    files: WORDS,
    output: 'pear\nplum\nfig\nplum\n',
  },
  {
    task: 'Replace text and keep a copy',
    programs: ['sed'],
    command: `sed -i.bak 1d a.txt && cat a.txt.bak | head -1`,
    files: WORDS,
    output: 'pear\n',
    missing: '`sed -i` keeps no copy',
  },
  {
    task: 'Print a range of lines',
    programs: ['sed', 'head', 'tail'],
    command: `sed -n '2,3p' a.txt; tail -1 a.txt`,
    files: WORDS,
    output: 'apple\nfig\napple\n',
  },
  {
    task: 'Search in files',
    programs: ['grep'],
    command: `grep -rn Y d; grep -oE '[a-z]{5,}' a.txt | head -1`,
    files: { ...WORDS, ...TREE },
    output: 'd/e/y.txt:1:Y\napple\n',
  },
  { task: 'Change letters', programs: ['tr'], command: 'tr a-z A-Z < a.txt | head -1', files: WORDS, output: 'PEAR\n' },
  {
    task: 'Convert an encoding',
    programs: ['iconv'],
    command: `printf '\\xfc' | iconv -f latin1 -t utf8`,
    output: 'ü',
    missing: NO_PROGRAM,
  },
  {
    task: 'Show bytes',
    programs: ['od'],
    command: 'head -c 2 a.txt | od -An -tx1',
    files: WORDS,
    output: /^ 70 65\n$/,
  },
  {
    task: 'Apply a patch',
    programs: ['patch'],
    command: `printf 'Z\\n' > z; diff -u d/x.txt z > p; patch -s d/x.txt p && cat d/x.txt`,
    files: TREE,
    output: 'Z\n',
    missing: NO_PROGRAM,
  },
];

const DATA: readonly EverydayCommand[] = [
  {
    task: 'Select from JSON',
    programs: ['jq'],
    command: `jq -r '.[] | select(.n > 1) | "\\(.k)=\\(.n)"' o.json`,
    files: RECORDS,
    output: 'b=2\na=4\n',
  },
  {
    task: 'Group JSON',
    programs: ['jq'],
    command: `jq -c 'group_by(.k) | map({k: .[0].k, n: map(.n) | add})' o.json`,
    files: RECORDS,
    output: '[{"k":"a","n":5},{"k":"b","n":2}]\n',
  },
  {
    task: 'Query a database',
    programs: ['sqlite3'],
    command: `sqlite3 t.db "create table t(a); insert into t values (1),(2)" && sqlite3 -json t.db "select sum(a) s from t"`,
    output: '[{"s":3}]\n',
    missing: NO_PROGRAM,
  },
  {
    task: 'Query a CSV file with SQL',
    programs: ['sqlite3'],
    command: 'sqlite3 :memory: ".mode csv" ".import people.csv t" "select sum(n) from t"',
    files: PEOPLE,
    output: '12\n',
    missing: NO_PROGRAM,
  },
  {
    task: 'Run Python',
    programs: ['python3'],
    command: `python3 -c 'import json, csv; print(sum(int(r["n"]) for r in csv.DictReader(open("people.csv"))))'`,
    files: PEOPLE,
    output: '12\n',
    missing: NO_PROGRAM,
  },
  {
    task: 'Compute with numpy',
    programs: ['python3-numpy'],
    command: `python3 -c 'import numpy as np; print(np.linalg.det(np.array([[1., 2.], [3., 4.]])).round(3))'`,
    output: '-2.0\n',
    missing: NO_PROGRAM,
  },
  {
    task: 'Read tables with pandas',
    programs: ['python3-pandas'],
    command: `python3 -c 'import pandas as pd; print(pd.read_csv("people.csv").merge(pd.read_csv("cities.csv"), on="id").city.iloc[1])'`,
    files: TABLES,
    output: 'Rome\n',
    missing: NO_PROGRAM,
  },
  {
    task: 'Draw a chart as PNG',
    programs: ['python3-matplotlib'],
    command: `python3 -c 'import matplotlib.pyplot as plt; plt.bar(["a", "b"], [1, 2]); plt.title("Ü"); plt.savefig("chart.png")'`,
    output: '',
    picture: 'chart.png',
    missing: NO_PROGRAM,
  },
];

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
