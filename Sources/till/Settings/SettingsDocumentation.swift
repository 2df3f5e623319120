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
        case .none: "none"
        case .described(let text): text
        case .value(.texts(let texts)): texts.map { "`\($0)`" }.joined(separator: ", ")
        case .value(let value): "`\(value.description)`"
        }
    }
}
