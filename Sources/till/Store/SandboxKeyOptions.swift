import ArgumentParser
import Foundation

/// The option and the variable of a fixed sandbox key.
struct SandboxKeyOptions: ParsableArguments {
    static let variable = "TILL_SANDBOX_KEY"

    @Option(
        help: ArgumentHelp(
            "The sandbox key, of 16 to 256 characters, for CI (default: $TILL_SANDBOX_KEY, else a random one that is printed).",
            valueName: "key"))
    var sandboxKey: String?

    /// The key in use: the option's, else the variable's, else a random one.
    ///
    /// - Throws: `ConfigurationError` for a key that is too short or too long, or cannot be sent in a header.
    func key(environment: [String: String] = ProcessInfo.processInfo.environment) throws(ConfigurationError)
        -> SandboxKey
    {
        if let sandboxKey { return try SandboxKey(fixed: sandboxKey, from: "--sandbox-key") }
        if let text = environment[Self.variable], !text.isEmpty {
            return try SandboxKey(fixed: text, from: Self.variable)
        }
        return SandboxKey()
    }
}
