import Configuration

/// A setting of `till serve`: its one definition, from which the option, the variable, the entry of the file, the error
/// messages, `--print-configuration` and the documentation derive.
package struct Setting: Sendable {
    /// The form of a setting's values.
    package enum Kind: Sendable {
        case text
        case texts
        /// One of several names.
        case choice([String])
        /// A list of such names.
        case choices([String])
        case number(ClosedRange<Int>)
        case flag
        /// A list of objects, in the file alone.
        case apps
    }

    /// The name on the command line without `--`, and in the file.
    package let name: String
    package let kind: Kind
    package internal(set) var defaultValue: SettingValue?
    /// The behaviour without a value, in Markdown for the documentation; nil if there is none, or a default value.
    var defaultBehaviour: String?
    /// The value's name in the help.
    var valueName = "value"
    /// The setting without which this one has no effect; its default is not printed.
    package internal(set) var dependency: String?
    /// True if the command line cannot have it, and no report shows it.
    package internal(set) var isSecret = false
    /// True if every command has the option.
    var isCommon = false
    /// Shortens a value that may contain a secret.
    var redacted: @Sendable (String) -> String = { $0 }
    /// A Markdown link to further documentation.
    var reference: String?
    /// A noun phrase in Markdown.
    package let description: String

    /// A text.
    ///
    /// - Parameter behaviour: The behaviour without a value, in Markdown.
    static func text(
        _ name: String, _ valueName: String, standard: String? = nil, otherwise behaviour: String? = nil,
        dependency: String? = nil, reference: String? = nil, _ description: String
    ) -> Setting {
        Setting(
            name: name, kind: .text, defaultValue: standard.map { .text($0) }, defaultBehaviour: behaviour,
            valueName: valueName, dependency: dependency, reference: reference, description: description)
    }

    /// A list of texts, empty by default.
    static func texts(
        _ name: String, _ valueName: String, dependency: String? = nil, reference: String? = nil, _ description: String
    ) -> Setting {
        Setting(
            name: name, kind: .texts, valueName: valueName, dependency: dependency, reference: reference,
            description: description)
    }

    /// A number with a default.
    static func number(
        _ name: String,
        _ range: ClosedRange<Int>,
        _ standard: Int,
        valueName: String = "n",
        dependency: String? = nil,
        _ description: String
    ) -> Setting {
        Setting(
            name: name, kind: .number(range), defaultValue: .number(standard), valueName: valueName,
            dependency: dependency, description: description)
    }

    /// A setting that is off by default.
    static func flag(
        _ name: String, dependency: String? = nil, reference: String? = nil, _ description: String
    ) -> Setting {
        Setting(
            name: name, kind: .flag, defaultValue: .flag(false), dependency: dependency, reference: reference,
            description: description)
    }

    /// The environment variable; nil if the environment cannot have the setting.
    var variable: String? {
        if case .apps = kind { nil } else { "TILL_" + name.uppercased().replacing("-", with: "_") }
    }

    /// True if `ServeOptions` declares an option for it.
    var isOption: Bool { !isSecret && !isCommon && variable != nil }

    /// A noun phrase for the accepted values: "a number from 0 to 65535".
    var expected: String {
        switch kind {
        case .text: "a text"
        case .texts: "a list of texts"
        case .choice(let names): "one of \(names.joined(separator: ", "))"
        case .choices(let names): "one or more of \(names.joined(separator: ", "))"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .flag: "true or false"
        case .apps: "a list of objects"
        }
    }

    /// Checks a value that was read from a place.
    ///
    /// - Returns: Nil if the setting does not accept it.
    func value(_ content: ConfigContent) -> SettingValue? {
        switch (kind, content) {
        case (.text, .string(let text)): .text(text)
        case (.texts, .stringArray(let texts)): .texts(texts)
        case (.choice(let names), .string(let text)) where names.contains(text): .text(text)
        case (.choices(let names), .stringArray(let texts)) where !texts.isEmpty && texts.allSatisfy(names.contains):
            .texts(texts)
        case (.number(let range), .int(let number)) where range.contains(number): .number(number)
        case (.flag, .bool(let flag)): .flag(flag)
        default: nil
        }
    }

    /// The type of the setting in swift-configuration.
    var contentType: ConfigType {
        switch kind {
        case .text, .choice, .apps: .string
        case .texts, .choices: .stringArray
        case .number: .int
        case .flag: .bool
        }
    }
}

package enum SettingValue: Sendable {
    case text(String)
    case texts([String])
    case number(Int)
    case flag(Bool)
    case apps([AppSettings])

    /// The value on one line, for people.
    package var description: String {
        switch self {
        case .text(let text): text
        case .texts(let texts): texts.joined(separator: ", ")
        case .number(let number): String(number)
        case .flag(let flag): String(flag)
        case .apps(let apps): apps.map(\.bundleIdentifier).joined(separator: ", ")
        }
    }
}

extension SettingValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .texts(let texts): try container.encode(texts)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .apps(let apps): try container.encode(apps)
        }
    }
}

/// The tables of settings in Documentation/Configuration.md.
package enum SettingsDocumentation {
    /// The rows of a group, with their head.
    package static func table(_ group: SettingGroup) -> [String] {
        ["| setting | value | default | description |", "| --- | --- | --- | --- |"]
            + group.settings.map { setting in
                let reference = setting.reference.map { " (\($0))" } ?? ""
                return "| `\(setting.name)` | \(value(setting.kind)) | \(standard(setting)) | "
                    + "\(setting.description)\(reference) |"
            }
    }

    /// All tables, each after its heading.
    static var page: String {
        SettingGroup.all.map { group in
            (["## \(group.title)", ""] + table(group)).joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    private static func value(_ kind: Setting.Kind) -> String {
        switch kind {
        case .text: "text"
        case .texts: "list of texts"
        case .choice(let names): names.map { "`\($0)`" }.joined(separator: ", ")
        case .choices(let names): "list of " + names.map { "`\($0)`" }.joined(separator: ", ")
        case .number(let range) where range.upperBound == Int.max: "number from \(range.lowerBound)"
        case .number(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .flag: "`true`, `false`"
        case .apps: "list of objects"
        }
    }

    private static func standard(_ setting: Setting) -> String {
        switch setting.defaultValue {
        case nil: setting.defaultBehaviour ?? "none"
        case .texts(let texts): texts.map { "`\($0)`" }.joined(separator: ", ")
        case let value?: "`\(value.description)`"
        }
    }
}
