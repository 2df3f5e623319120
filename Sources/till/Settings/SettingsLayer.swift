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
}
