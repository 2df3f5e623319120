import Configuration
import Foundation
import Proofs

extension SettingsLayer {
    /// Reads a configuration file. It reads the JSON itself: `apps` is a list of objects, which swift-configuration does not
    /// support.
    ///
    /// - Throws: `ConfigurationError` for a file that cannot be read, is not JSON, or has an unknown setting.
    init(file path: String) throws(ConfigurationError) {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw ConfigurationError(file: path, problem: "cannot be read. Name a readable file with --config")
        }
        let bytes = [UInt8](data)
        let value: JSONValue
        do {
            value = try JSONParser.parse(bytes)
        } catch {
            let line = bytes.prefix(error.offset).count { $0 == UInt8(ascii: "\n") } + 1
            throw ConfigurationError(file: path, problem: "is not JSON, in line \(line): \(error.message)")
        }
        guard case .object(let object) = value else {
            throw ConfigurationError(file: path, problem: "must contain a JSON object")
        }
        let lines = Self.lines(bytes)
        var (texts, contents): ([String: String], [String: ConfigContent]) = ([:], [:])
        var apps: [AppSettings]?
        for member in object.members where member.value != .null {
            let (name, value) = (member.key, member.value)
            guard Setting.named(name) != nil else {
                throw ConfigurationError(file: path, unknown: name, among: Setting.all.map(\.name), line: lines[name])
            }
            if name == "apps" {
                apps = try AppSettings.all(value, file: path)
            } else {
                (contents[name], texts[name]) = Self.content(of: value)
            }
        }
        self.init(place: .file(path, lines: lines), texts: texts, contents: contents, apps: apps)
    }

    /// The value, and its text for a message. An object or a mixed list becomes text, which no setting accepts.
    private static func content(of value: JSONValue) -> (ConfigContent, String) {
        switch value {
        case .string(let text): return (.string(text), text)
        case .bool(let bool): return (.bool(bool), "\(bool)")
        case .number(let number):
            if let integer = number.int64 { return (.int(Int(integer)), "\(integer)") }
            return number.double.map { (.double($0), "\($0)") } ?? (.bytes([]), "a number")
        case .array(let elements):
            let texts = elements.compactMap { element in
                if case .string(let text) = element { text } else { nil }
            }
            guard texts.count == elements.count else { return (.bytes([]), "a list of other values") }
            return (.stringArray(texts), texts.joined(separator: ", "))
        case .object, .null: return (.bytes([]), "an \(value.kind)")
        }
    }

    /// The line of each member of the outermost object, in a text that is JSON.
    private static func lines(_ bytes: [UInt8]) -> [String: Int] {
        var lines: [String: Int] = [:]
        var (line, depth) = (1, 0)
        var lastText: (text: String, line: Int)?
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ":"):
                if depth == 1, let lastText { lines[lastText.text] = lastText.line }
            case UInt8(ascii: "\""):
                let start = index + 1
                index = start
                while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                    index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                lastText = (String(decoding: bytes[start..<min(index, bytes.count)], as: UTF8.self), line)
            default: break
            }
            index += 1
        }
        return lines
    }
}
