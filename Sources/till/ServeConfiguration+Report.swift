import Foundation

/// The configuration of the service, for `--print-configuration`. Secrets are left out.
extension ServeConfiguration {
    /// The settings as a file that `--config` takes, with the defaults that do not depend on another setting.
    var report: [String: SettingValue] {
        var report: [String: SettingValue] = [:]
        for entry in settings.effective where !entry.setting.isSecret {
            guard entry.source != nil || entry.setting.dependency == nil, let value = entry.printed else { continue }
            report[entry.setting.name] = value
        }
        return report
    }

    /// The same as JSON.
    func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self)
    }

    /// A table of all settings, with the value and the source of each, for people.
    var sources: [String] {
        var table = TextTable(header: ["SETTING", "VALUE", "SOURCE"])
        for entry in rows { table.add([entry.name, entry.value, entry.source ?? "default"]) }
        return table.lines
    }

    /// The settings for people, with the value and the source of each. The source is nil for a default.
    var rows: [(name: String, value: String, source: String?)] {
        settings.effective.map { ($0.setting.name, $0.summary, $0.source) }
    }
}

extension ServeSettings.Effective {
    /// The value without secrets, and lists in order; nil if there is none.
    fileprivate var printed: SettingValue? {
        switch value {
        case .text(let text): .text(setting.redacted(text))
        case .texts(let texts): .texts(Set(texts).sorted())
        case .number, .flag, .apps, nil: value
        }
    }

    /// The value for people. A secret is hidden, and a default behaviour is described.
    fileprivate var summary: String {
        if setting.isSecret, value != nil { return "(secret)" }
        if let printed { return printed.description }
        if case .described(let text) = setting.defaultValue { return text }
        return "-"
    }
}
