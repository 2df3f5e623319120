import Commerce
import Configuration
import Foundation
import StrictJSON

/// The settings in a configuration file.
///
/// swift-configuration reads no list of objects, which `apps` is, so that this type reads the JSON.
struct SettingsFile {
    /// All settings but `apps`.
    private(set) var values: [AbsoluteConfigKey: ConfigValue] = [:]
    /// Nil without the setting `apps`.
    private(set) var apps: [AppSettings]?

    /// - Throws: `ConfigurationError` for a file that cannot be read, is not JSON, or has an unknown setting.
    init(path: String) throws(ConfigurationError) {
        guard let bytes = try? Data(contentsOf: URL(filePath: path)) else {
            throw ConfigurationError(file: path, problem: "cannot be read")
        }
        let value: JSONValue
        do {
            value = try JSONParser.parse([UInt8](bytes))
        } catch {
            throw ConfigurationError(file: path, problem: "is not JSON: \(error.message)")
        }
        guard case .object(let object) = value else {
            throw ConfigurationError(file: path, problem: "has to hold a JSON object")
        }
        for member in object.members where member.value != .null {
            let (name, value) = (member.key, member.value)
            guard ServeSettings.names.contains(name) else {
                throw ConfigurationError(file: path, unknown: name, among: ServeSettings.names)
            }
            if name == "apps" {
                apps = try AppSettings.all(value, file: path)
            } else if let content = Self.content(of: value) {
                values[AbsoluteConfigKey([name])] = ConfigValue(content, isSecret: false)
            } else {
                throw ConfigurationError(
                    file: path, problem: "has the setting \"\(name)\" as \(value.kind), which no setting is")
            }
        }
    }

    /// - Returns: Nil for a value of a kind that no setting has.
    private static func content(of value: JSONValue) -> ConfigContent? {
        switch value {
        case .string(let text): return .string(text)
        case .bool(let bool): return .bool(bool)
        case .number(let number): return number.int64.map { .int(Int($0)) } ?? number.double.map { .double($0) }
        case .array(let elements):
            let texts = elements.compactMap { element in
                if case .string(let text) = element { text } else { nil }
            }
            return texts.count == elements.count ? .stringArray(texts) : nil
        case .object, .null: return nil
        }
    }
}
