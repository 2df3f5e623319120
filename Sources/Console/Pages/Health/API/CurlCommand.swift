/// A request of the API as a command for a shell.
struct CurlCommand {
    let operation: APIOperation
    /// The address of the service, without a path.
    let address: String

    /// The command. Parameters of the path are in capitals, and the key is in a variable.
    var text: String {
        var lines = [
            "curl" + (operation.method == "GET" ? "" : " -X \(operation.method)") + " '\(address)\(path)\(query)'"
        ]
        if let variable { lines.append("-H \"Authorization: Bearer $\(variable)\"") }
        for parameter in operation.parameters where parameter.location == "header" && parameter.isRequired {
            lines.append("-H '\(parameter.name): \(parameter.name.uppercased())'")
        }
        if let body = operation.body {
            if let example = body.example {
                lines.append("-H 'Content-Type: \(body.type)'")
                lines.append("-d '\(example.replacing("'", with: #"'\''"#))'")
            } else if body.type == "multipart/form-data" {
                lines.append("-F 'picture=@FILE'")
            } else {
                lines.append("--data-urlencode 'NAME=VALUE'")
            }
        }
        return lines.joined(separator: " \\\n  ")
    }

    /// The environment variable with the credential; nil for an operation without one.
    private var variable: String? {
        operation.credentials.isEmpty
            ? nil : operation.credentials.contains(.apiKey) ? "TILL_API_KEY" : "TILL_TOKEN"
    }

    private var path: String {
        operation.parameters.filter { $0.location == "path" }.reduce(operation.path) { path, parameter in
            path.replacing("{\(parameter.name)}", with: parameter.name.uppercased())
        }
    }

    private var query: String {
        let required = operation.parameters.filter { $0.location == "query" && $0.isRequired }
        guard !required.isEmpty else { return "" }
        return "?" + required.map { "\($0.name)=\($0.name.uppercased())" }.joined(separator: "&")
    }
}
