import Configuration
import Foundation
import Proofs

/// One of the places that settings come from: the command line, the environment, or the file.
struct SettingsLayer {
    enum Place {
        case commandLine
        case environment
        case file(String, lines: [String: Int])
    }

    let place: Place
    /// The values as they were written, by setting.
    let texts: [String: String]
    /// The same values in swift-configuration's form, without those that their settings cannot have.
    let contents: [String: ConfigContent]
    /// The entries of `apps`, which swift-configuration's form cannot hold; nil without the setting.
    var apps: [AppSettings]?
}

extension SettingsLayer {
    init(options values: [String: [String]]) {
        let contents: [String: ConfigContent] = values.reduce(into: [:]) { contents, value in
            guard let setting = Setting.named(value.key), let last = value.value.last else { return }
            contents[setting.name] =
                switch setting.kind {
                case .texts, .choices: .stringArray(value.value)
                case .number: Int(last).map { .int($0) }
                case .flag: .bool(last == "true")
                case .text, .choice, .apps: .string(last)
                }
        }
        self.init(
            place: .commandLine, texts: values.mapValues { $0.joined(separator: ", ") }, contents: contents)
    }

    init(environment: [String: String]) {
        // An empty variable is the same as none.
        let variables = environment.filter { !$0.value.isEmpty }
        let provider = EnvironmentVariablesProvider(environmentVariables: variables).prefixKeys(with: "till")
        var (texts, contents): ([String: String], [String: ConfigContent]) = ([:], [:])
        for setting in Setting.all {
            guard let text = setting.variable.flatMap({ variables[$0] }) else { continue }
            texts[setting.name] = text
            let result = try? provider.value(forKey: AbsoluteConfigKey([setting.name]), type: setting.contentType)
            contents[setting.name] = result?.value?.content
        }
        self.init(place: .environment, texts: texts, contents: contents)
    }

    /// - Returns: Nil if the layer does not have the setting.
    /// - Throws: `ConfigurationError` for a value that the setting does not accept.
    func value(of setting: Setting) throws(ConfigurationError) -> SettingValue? {
        if case .apps = setting.kind { return apps.map { .apps($0) } }
        guard texts[setting.name] != nil else { return nil }
        guard let value = contents[setting.name].flatMap(setting.value) else {
            var error = ConfigurationError(setting: setting, expected: setting.expected, in: self)
            error.isWrongValue = true
            throw error
        }
        return value
    }

    /// The name of the place for a table: "--port", "TILL_PORT", "till.json, line 3".
    func source(of setting: Setting) -> String {
        switch place {
        case .commandLine: "--\(setting.name)"
        case .environment: setting.variable ?? ""
        case .file(let path, let lines): path + (lines[setting.name].map { ", line \($0)" } ?? "")
        }
    }

    /// A clause for an error: `TILL_PORT is "abc"`; for a secret, without its value.
    func statement(of setting: Setting) -> String {
        // An address may contain a password.
        let text = setting.redacted(texts[setting.name] ?? "").replacing(/\/\/\S*@/, with: "//…@")
        let has = setting.isSecret ? "set" : "\"\(text.prefix(200))\""
        return switch place {
        case .commandLine, .environment: "\(source(of: setting)) is \(has)"
        case .file(let path, let lines):
            "\(lines[setting.name].map { "in line \($0) of " } ?? "in ")\(path) it is \(has)"
        }
    }

    /// Reads a configuration file. It reads the JSON itself: `apps` is a list of objects, which swift-configuration does not
    /// support.
    ///
    /// - Throws: `ConfigurationError` for a file that cannot be read, is not JSON, or has an unknown setting.
    init(file path: String) throws(ConfigurationError) {
        guard let bytes = NamedFile.bytes(of: URL(filePath: path)) else {
            throw ConfigurationError(
                file: path,
                problem: NamedFile.isMissing(path)
                    ? "does not exist. Name another one with --config"
                    : "cannot be read. Name a readable file with --config")
        }
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
