#compdef protocom protocom-serve
# Completion of protocom and protocom-serve for zsh: commands, their options, files. What there is, the programs say themselves.
local word help
local -a commands found
commands_of() { sed -nE '/^Subcommands.*:$/,/^$/s/^  ([a-z][a-z-]*)  +(.*)/\1:\2/p'; }
# The text of an option stands behind it, or on the lines below.
options_of() {
  awk -v by=: '
    name != "" && /^ / && substr($0, 1, 38) ~ /^ *$/ { sub(/^ */, ""); text = text (text == "" ? "" : " ") $0; next }
    name != "" { print name by text; name = "" }
    /^  (-[a-z],)?--[a-z]/ { name = $1; sub(/^-[a-z],/, "", name); text = substr($0, 39) }
    END { if (name != "") print name by text }'
}
# A word is a command as long as the ones before it have that one.
for word in ${words[2,CURRENT-1]}; do
  [[ $word == [a-z]* ]] || continue
  $words[1] $commands --help 2>/dev/null | commands_of | grep -q "^$word:" && commands+=($word)
done
help=$($words[1] $commands --help 2>/dev/null)
if [[ $PREFIX == -* ]]; then
  found=(${(f)"$(options_of <<<$help)"})
  _describe -o option found
else
  found=(${(f)"$(commands_of <<<$help)"})
  (( $#found )) && _describe command found
  _files
fi
unfunction commands_of options_of
