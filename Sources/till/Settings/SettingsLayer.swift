import Configuration
import Foundation

/// One of the places that settings come from: the command line, the environment, or the file.
struct SettingsLayer {
    enum Place {
        case commandLine
        case environment
        /// A file, with the line of each setting.
        case file(String, lines: [String: Int])
    }

    let place: Place
    /// The values as they were written, by setting.
    let texts: [String: String]
    private let provider: any ConfigProvider

    init(options values: [String: [String]]) {
        place = .commandLine
        texts = values.mapValues { $0.joined(separator: ", ") }
        var contents: [String: ConfigContent] = [:]
        for (name, texts) in values {
            guard let setting = Setting.named(name), let last = texts.last else { continue }
            contents[name] =
                switch setting.kind {
                case .texts, .choices: .stringArray(texts)
                // Text that is not a number stays text. No number setting accepts it.
                case .number: Int(last).map { .int($0) } ?? .string(last)
                case .flag: .bool(last == "true")
                case .text, .choice, .apps: .string(last)
                }
        }
        provider = Self.provider(contents)
    }

    init(environment: [String: String]) {
        place = .environment
        // An empty variable is the same as none.
        let variables = environment.filter { !$0.value.isEmpty }
        let named = Setting.all.compactMap { setting in
            setting.variable.flatMap { variables[$0] }.map { (setting.name, $0) }
        }
        texts = Dictionary(named) { first, _ in first }
        provider = EnvironmentVariablesProvider(environmentVariables: variables).prefixKeys(with: "till")
    }

    init(file: SettingsFile) {
        place = .file(file.path, lines: file.lines)
        texts = file.texts
        provider = Self.provider(file.contents)
    }

    /// - Returns: Nil if the layer does not have the setting.
    /// - Throws: `ConfigurationError` for a value that the setting does not accept.
    func value(of setting: Setting) throws(ConfigurationError) -> SettingValue? {
        guard texts[setting.name] != nil else { return nil }
        let result = try? provider.value(forKey: AbsoluteConfigKey([setting.name]), type: setting.contentType)
        guard let content = result?.value?.content, let value = setting.value(content) else {
            throw ConfigurationError(setting: setting, expected: setting.expected, in: self)
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

    private static func provider(_ contents: [String: ConfigContent]) -> InMemoryProvider {
        InMemoryProvider(
            values: Dictionary(
                contents.map { (AbsoluteConfigKey([$0]), ConfigValue($1, isSecret: false)) }
            ) { first, _ in first })
    }
}
