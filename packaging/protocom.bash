# Completion of protocom and protocom-serve for bash: commands, their options, files. What there is, the programs say themselves.
_protocom() {
  local current=${COMP_WORDS[COMP_CWORD]} word help
  local -a commands=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == [a-z]* ]] || continue
    # A word is a command as long as the ones before it have that one.
    help=$("$1" "${commands[@]}" --help 2>/dev/null | sed -n '/^Subcommands.*:$/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
    grep -qxF -- "$word" <<<"$help" && commands+=("$word")
  done
  help=$("$1" "${commands[@]}" --help 2>/dev/null)
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(grep -oE '^  (-[a-z],)?--[a-z-]+' <<<"$help" | grep -oE -- '--[a-z-]+')" -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$(sed -n '/^Subcommands.*:$/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help")" -- "$current"; compgen -f -- "$current")
}
complete -o filenames -F _protocom protocom protocom-serve
