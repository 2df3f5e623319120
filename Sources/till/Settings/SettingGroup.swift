/// The settings of one section of the documentation.
package struct SettingGroup: Sendable {
    /// The section's heading.
    package let title: String
    package let settings: [Setting]

    package static let all = [service, ledger, purchases, users, team, appStore, mail, limits]
}

extension Setting {
    package static let all = SettingGroup.all.flatMap(\.settings)

    /// - Returns: Nil for an unknown name.
    static func named(_ name: String) -> Setting? { byName[name] }

    private static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
}
