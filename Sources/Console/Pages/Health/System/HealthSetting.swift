/// A setting of the service. A secret is hidden.
package struct HealthSetting: Sendable {
    let name: String
    let value: String
    /// The option, the variable or the line of the file; nil for the default.
    let source: String?

    package init(name: String, value: String, source: String?) {
        self.name = name
        self.value = value
        self.source = source
    }
}
