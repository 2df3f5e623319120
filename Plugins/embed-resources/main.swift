import Foundation

// Writes a Swift file with the bytes of files as string literals: embed-resources OUTPUT FILE …

let arguments = CommandLine.arguments.dropFirst().map { URL(filePath: $0) }
guard let output = arguments.first else { exit(2) }

var code = "enum PackageResources {\n"
for file in arguments.dropFirst() {
    let name = String(file.lastPathComponent.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    let text = try String(contentsOf: file, encoding: .utf8)
    var literal = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\\": literal += "\\\\"
        case "\"": literal += "\\\""
        case "\n": literal += "\\n"
        case "\r": literal += "\\r"
        case "\t": literal += "\\t"
        default: literal.unicodeScalars.append(scalar)
        }
    }
    code += "    static let \(name): [UInt8] = Array(\"\(literal)\".utf8)\n"
}
code += "}\n"
// SwiftPM links this tool again in each build. A file that it left alone compiles nothing again.
if (try? Data(contentsOf: output)) != Data(code.utf8) { try Data(code.utf8).write(to: output) }
