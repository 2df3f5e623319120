import ArgumentParser
import Proofs

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
        let help = ArgumentHelp(stringLiteral: setting.help)
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

extension Origin: ExpressibleByArgument {}
