/// A request body of a sandbox route.
protocol SandboxRequest: Decodable {
    /// The names of all fields. Other fields are rejected.
    static var fields: [String] { get }
}
