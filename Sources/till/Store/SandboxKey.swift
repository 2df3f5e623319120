import HTTPSupport
import Proofs

/// The secret by which tests act as the customer and as Apple.
struct SandboxKey: Sendable {
    private static let lengths = 16...256

    /// The text of a random key, to be printed; nil for a fixed key, which is never printed.
    let printed: String?
    let apiKey: APIKey

    /// A random key.
    init() {
        let text = Randomness.system.bytes(16).hexadecimal
        printed = text
        apiKey = APIKey(text)
    }

    /// - Parameter source: The option or variable that has the key.
    /// - Throws: `ConfigurationError`, without the key.
    init(fixed text: String, from source: String) throws(ConfigurationError) {
        guard Self.lengths.contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ConfigurationError(
                message:
                    "\(source) must have 16 to 256 characters of ASCII without spaces. `openssl rand -hex 16` prints a key."
            )
        }
        printed = nil
        apiKey = APIKey(text)
    }

    /// The line of a started store.
    var line: String { "Sandbox key: \(printed ?? "the fixed one")" }
}
