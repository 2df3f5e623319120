/// The value of a setting.
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
