/// A body that a route of the sandbox takes.
protocol SandboxRequest: Decodable {
    /// The names of all fields; another one is refused.
    static var fields: [String] { get }
}
