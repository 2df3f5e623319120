import ArgumentParser
import Foundation
import HTTPSupport
import Proofs
import Vocabulary

/// The settings of `till serve`, from the command line, the environment and the file, in this order.
struct ServeSettings {
    struct Effective {
        let setting: Setting
        /// The value; nil if the setting has neither a value nor a default.
        let value: SettingValue?
        /// The option, the variable or the line of the file; nil for the default.
        let source: String?
    }

    /// The variables that only other commands read.
    private static let otherVariables = ["TILL_API_KEY", "TILL_TOKEN", SandboxKeyOptions.variable]

    /// The unknown environment variables with the prefix TILL_, each with a sentence.
    static func unknownVariables(_ environment: [String: String]) -> [String] {
        let known = Setting.all.compactMap(\.variable) + otherVariables
        return environment.keys.filter { $0.hasPrefix("TILL_") && !known.contains($0) }.sorted().map {
            "The variable \($0) is unknown and has no effect.\(Suggestion.sentence(for: $0, among: known))"
        }
    }

    /// The settings in the order of the table.
    let effective: [Effective]
    private let byName: [String: Effective]
    private let layers: [SettingsLayer]
    /// The path of the configuration file; nil without one.
    let configurationFile: String?

    /// - Throws: `ConfigurationError` for a file that cannot be read and for a value that its setting does not accept.
    init(_ options: ServeOptions, _ common: CommonOptions) throws(ConfigurationError) {
        var given = options.values
        given["data"] = common.dataPath.map { [$0] }
        given["catalog"] = common.catalogPath.map { [$0] }
        var layers = [SettingsLayer(options: given), SettingsLayer(environment: ProcessInfo.processInfo.environment)]
        if let path = options.configurationFile { layers.append(try SettingsLayer(file: path)) }
        var effective: [Effective] = []
        for setting in Setting.all {
            var (value, source) = (setting.defaultValue, String?.none)
            for layer in layers where source == nil {
                guard let given = try layer.value(of: setting) else { continue }
                (value, source) = (given, layer.source(of: setting))
            }
            effective.append(Effective(setting: setting, value: value, source: source))
        }
        self.effective = effective
        byName = Dictionary(effective.map { ($0.setting.name, $0) }) { first, _ in first }
        self.layers = layers
        configurationFile = options.configurationFile
    }

    /// True if the configuration file has a value that no report shows.
    var hasSecretInFile: Bool {
        effective.contains { entry in
            guard let source = entry.source, !source.hasPrefix("--"), !source.hasPrefix("TILL_") else { return false }
            guard case .text(let text) = entry.value else { return entry.setting.isSecret }
            return entry.setting.isSecret || entry.setting.redacted(text) != text
        }
    }

    /// True if a place has the setting.
    func isSet(_ name: String) -> Bool { entry(name).source != nil }

    /// The text, or the default; nil without both.
    func text(_ name: String) -> String? {
        if case .text(let text) = entry(name).value { text } else { nil }
    }

    /// The text of a setting that has a default.
    func requiredText(_ name: String) -> String {
        // A mistake in the table, which each start finds: a service reads all settings.
        guard let text = text(name) else { preconditionFailure("\(name) has no default") }
        return text
    }

    /// The list, or the default; empty without both.
    func texts(_ name: String) -> [String] {
        if case .texts(let texts) = entry(name).value { texts } else { [] }
    }

    /// The number, or the default; nil without both.
    func optionalNumber(_ name: String) -> Int? {
        if case .number(let number) = entry(name).value { number } else { nil }
    }

    /// The number of a setting that has a default.
    func number(_ name: String) -> Int {
        // As in `requiredText`.
        guard let number = optionalNumber(name) else { preconditionFailure("\(name) has no default") }
        return number
    }

    func flag(_ name: String) -> Bool {
        if case .flag(let flag) = entry(name).value { flag } else { false }
    }

    /// The apps of a service that sells several; empty for a service with one app.
    var apps: [AppSettings] {
        if case .apps(let apps) = entry("apps").value { apps } else { [] }
    }

    /// The error for a setting, with its value and its place.
    ///
    /// - Parameter expected: A noun phrase, or an instruction: "set together with accounts".
    func failure(_ name: String, _ expected: String) -> ConfigurationError {
        let setting = entry(name).setting
        return ConfigurationError(setting: setting, expected: expected, in: layers.first { $0.texts[name] != nil })
    }

    /// Refuses a setting unless it meets a condition.
    func require(
        _ condition: Bool, _ name: String, _ expected: @autoclosure () -> String
    ) throws(ConfigurationError) {
        if !condition { throw failure(name, expected()) }
    }

    /// Refuses settings that have no effect without another.
    func refuse(_ names: [String], without other: String) throws(ConfigurationError) {
        if let name = names.first(where: isSet) { throw failure(name, "set together with \(other)") }
    }

    /// Checks the file that a setting names.
    ///
    /// - Throws: `ConfigurationError` for a missing and for an unreadable file, not for a setting that is not set.
    func requireFile(_ name: String) throws(ConfigurationError) {
        guard let path = text(name) else { return }
        try require(FileManager.default.fileExists(atPath: path), name, "the path of an existing file")
        try require(
            NamedFile.handle(of: URL(filePath: path)) != nil, name, "the path of a file that this process may read")
    }

    /// The address of a server to which the service sends a credential; nil without the setting.
    func address(_ name: String) throws(ConfigurationError) -> URL? {
        guard let text = text(name) else { return nil }
        guard let address = ServerAddress(argument: text), address.isConfidential else {
            throw failure(name, ServerAddress.expected)
        }
        return address.url
    }

    /// The content of the file that a setting names; nil without the setting.
    ///
    /// - Parameter limit: The largest file, in bytes.
    func content(ofFile name: String, upTo limit: Int) throws(ConfigurationError) -> String? {
        guard let file = text(name) else { return nil }
        guard let bytes = NamedFile.bytes(of: URL(filePath: file), upTo: limit),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw failure(
                name,
                NamedFile.isMissing(file)
                    ? "the path of an existing file" : "a file of up to \(limit) bytes that can be read")
        }
        return text
    }

    private func entry(_ name: String) -> Effective {
        // A misspelt name in the code, which each start finds: a service reads all settings.
        guard let entry = byName[name] else { preconditionFailure("There is no setting \"\(name)\".") }
        return entry
    }
}

/// An error for a setting that the service cannot use.
struct ConfigurationError: CodedError {
    let message: String
    /// True for a value that its setting never accepts, whatever the other settings are.
    var isWrongValue = false

    var code: String { "configurationInvalid" }
}

extension ConfigurationError {
    /// - Parameters:
    ///   - expected: A noun phrase, or an instruction: "set together with accounts".
    ///   - layer: The place that has the value; nil if no place has it.
    init(setting: Setting, expected: String, in layer: SettingsLayer?) {
        var suggestion = ""
        // A value of the list is no wrong one: another setting is missing.
        if case .choice(let names) = setting.kind, let text = layer?.texts[setting.name], !names.contains(text) {
            suggestion = Suggestion.sentence(for: text, among: names)
        }
        message =
            "`\(setting.name)` must be \(expected)\(layer.map { "; \($0.statement(of: setting))" } ?? "")."
            + suggestion
    }

    /// - Parameters:
    ///   - unknown: The name of a setting that does not exist.
    ///   - line: Its line; nil if unknown.
    init(file: String, unknown: String, among known: some Sequence<String>, line: Int? = nil) {
        message =
            "The configuration file \(file) has\(line.map { ", in line \($0)," } ?? "") the unknown setting "
            + "\"\(unknown.prefix(100))\"."
            + "\(Suggestion.sentence(for: unknown, among: known)) Remove it or correct its name."
    }

    init(file: String, problem: String) {
        message = "The configuration file \(file) \(problem)."
    }
}

/// The options of `till serve`: `--config`, and one for each setting that the command line may have.
///
/// The parser finds options by reflection. The custom mirror shows it an option for each entry of `Setting.all`, so that an
/// entry is all that a new setting needs.
struct ServeOptions: ParsableArguments, CustomReflectable {
    private static let configuration = "config"

    /// The path of the configuration file; nil if none was named.
    let configurationFile: String?
    /// The values that were given, by the name of the setting.
    let values: [String: [String]]

    init() {
        configurationFile = nil
        values = [:]
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: MemberName.self)
        var values: [String: [String]] = [:]
        for setting in Setting.all where setting.isOption {
            let key = MemberName(stringValue: setting.name)
            switch setting.kind {
            case .flag:
                if try container.decode(Flag<Bool>.self, forKey: key).wrappedValue { values[setting.name] = ["true"] }
            case .texts, .choices:
                let texts = try container.decode(Option<[String]>.self, forKey: key).wrappedValue
                if !texts.isEmpty { values[setting.name] = texts }
            case .text, .choice, .number, .apps:
                let text = try container.decode(Option<String?>.self, forKey: key).wrappedValue
                values[setting.name] = text.map { [$0] }
            }
        }
        self.values = values
        configurationFile = try container.decode(
            Option<String?>.self, forKey: MemberName(stringValue: Self.configuration)
        ).wrappedValue
    }

    var customMirror: Mirror {
        let file = Option<String?>(
            name: .customLong(Self.configuration),
            help: ArgumentHelp("A JSON file with the settings.", valueName: "file"))
        let settings = Setting.all.filter(\.isOption).map { setting in
            Mirror.Child(label: setting.name, value: Self.argument(setting))
        }
        return Mirror(self, children: [(label: Self.configuration, value: file)] + settings)
    }

    private static func argument(_ setting: Setting) -> Any {
        let name = NameSpecification.customLong(setting.name)
        let help = ArgumentHelp(setting.help, visibility: setting.isShownFirst ? .default : .hidden)
        var valued = help
        valued.valueName = setting.valueName
        return switch setting.kind {
        case .flag: Flag(wrappedValue: false, name: name, help: help)
        case .texts, .choices: Option<[String]>(wrappedValue: [], name: name, help: valued)
        case .text, .choice, .number, .apps: Option<String?>(name: name, help: valued)
        }
    }
}

extension Setting {
    /// A sentence for the help, with the accepted values and the default.
    fileprivate var help: String {
        let plain = description.replacing("`", with: "").replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.1 }
        let sentence = plain.prefix(1).uppercased() + plain.dropFirst()
        var notes: [String] = []
        switch kind {
        case .choice(let names), .choices(let names): notes.append(names.joined(separator: ", "))
        case .number(let range) where range.upperBound < Int.max:
            notes.append("\(range.lowerBound) to \(range.upperBound)")
        case .number, .text, .texts, .flag, .apps: break
        }
        switch kind {
        case .texts, .choices: notes.append("may be repeated")
        case .text, .choice, .number, .flag, .apps: break
        }
        switch defaultValue {
        case .flag: break
        case let value: if let text = value?.description ?? defaultBehaviour { notes.append("default: \(text)") }
        }
        return sentence + (notes.isEmpty ? "." : " (\(notes.joined(separator: "; "))).")
    }
}

extension Origin: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(listed: argument)
    }
}
