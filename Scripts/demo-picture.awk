# Draws the main steps of the demo's output as an SVG of a terminal. Identifiers and times are replaced: each run draws the same.

BEGIN {
    # A step of the demo by the beginning of its title, and the number of its lines that are drawn.
    limit["Alice buys"] = 10
    limit["Her app's receipt"] = 5
    limit["A copy of the receipt"] = 3
    limit["Redeeming the same"] = 2
    limit["Somebody else"] = 2
    lineHeight = 18
    margin = 20
    width = 740
}

# The number of lines to draw of a step.
function lines_of(title, beginning) {
    for (beginning in limit) if (index(title, beginning) == 1) return limit[beginning]
    return 0
}

# Replaces each transaction with a number by its order, each time with one moment, and the temporary folder.
function stable(text, result, identifier) {
    gsub(/[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z/, "2027-01-31T12:00:00Z", text)
    gsub(/\/[^ ]*\/alice\.receipt/, "…/alice.receipt", text)
    result = ""
    while (match(text, /[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]/)) {
        identifier = substr(text, RSTART, RLENGTH)
        if (!(identifier in number)) number[identifier] = ++count
        result = result substr(text, 1, RSTART - 1) "200000000000000" number[identifier]
        text = substr(text, RSTART + RLENGTH)
    }
    return result text
}

function escaped(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
}

function class_of(text) {
    if (text ~ /^\$ /) return "command"
    if (text ~ /^(invalid|till):/) return "refusal"
    if (text ~ /^valid$/ || text ~ /granted$/) return "success"
    return ""
}

function draw(text, class) {
    drawn++
    if (text == "") return
    body = body sprintf("<text x=\"%d\" y=\"%d\"%s>%s</text>\n", margin, 2 * margin + drawn * lineHeight, \
        class == "" ? "" : " class=\"" class "\"", escaped(text))
}

/^== / {
    remaining = lines_of(substr($0, 4))
    if (remaining == 0) next
    if (drawn > 0) draw("", "")
    sub(/ \(the first purchase.*/, "")
    draw("# " substr($0, 4), "title")
    next
}

remaining > 0 && $0 != "" {
    remaining--
    text = stable($0)
    draw(text, class_of(text))
}

END {
    if (drawn < 20) { print "demo-picture: the demo's steps have other titles; change Scripts/demo-picture.awk." > "/dev/stderr"; exit 1 }
    height = 2 * margin + (drawn + 1) * lineHeight
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" xml:space=\"preserve\" role=\"img\" aria-labelledby=\"title\">\n", width, height, width, height
    print "<title id=\"title\">A terminal: a purchase is granted, its receipt is valid, a changed copy and another user are refused.</title>"
    print "<style>"
    print "text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; white-space: pre; fill: #1f2328 }"
    print ".window { fill: #f6f8fa; stroke: #d1d9e0 } .button { fill: #d1d9e0 }"
    print ".title { fill: #59636e } .command { fill: #0969da; font-weight: 600 } .success { fill: #1a7f37 } .refusal { fill: #cf222e }"
    print "@media (prefers-color-scheme: dark) {"
    print "text { fill: #f0f6fc } .window { fill: #151b23; stroke: #3d444d } .button { fill: #3d444d }"
    print ".title { fill: #9198a1 } .command { fill: #4493f8 } .success { fill: #3fb950 } .refusal { fill: #f85149 }"
    print "}"
    print "</style>"
    printf "<rect class=\"window\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", width - 1, height - 1
    for (button = 0; button < 3; button++) printf "<circle class=\"button\" cx=\"%d\" cy=\"20\" r=\"6\"/>\n", margin + 4 + button * 20
    printf "%s</svg>\n", body
}
