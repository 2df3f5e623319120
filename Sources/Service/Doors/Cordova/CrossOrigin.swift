import HTTPTypes
import Hummingbird

/// The header fields that let an app's web view read the answers (CORS, Fetch Standard section 3.3).
///
/// Web views of apps have origins such as `null`, `file://`, `ionic://localhost` and `http://localhost`. Every origin is allowed:
/// a request has no cookie, its key is public, and its proof alone decides about the answer. Credentials are not allowed.
enum CrossOrigin {
    /// The maximum length of the requested header names, in bytes.
    private static let maximumLength = 1024
    /// The header fields that the plugin sends.
    private static let names = "Accept, Authorization, Content-Type"
    /// The longest time for which a web view may keep the permission, in seconds.
    private static let maximumAge = "86400"

    /// Adds the fields to the answer to a request.
    static func allow(_ response: inout Response, for request: Request) {
        response.headers[.accessControlAllowOrigin] = "*"
        guard request.method == .options else { return }
        response.headers[.accessControlAllowMethods] = "POST"
        response.headers[.accessControlAllowHeaders] = requestedNames(request) ?? names
        response.headers[.accessControlMaxAge] = maximumAge
        response.headers[.vary] = "Access-Control-Request-Headers"
    }

    /// The header names that the web view asks for, because the app may add fields (`store.validator.headers`).
    private static func requestedNames(_ request: Request) -> String? {
        guard let names = request.headers[.accessControlRequestHeaders], (1...maximumLength).contains(names.utf8.count),
            names.split(separator: ",").allSatisfy({ HTTPField.Name(String($0.drop { $0 == " " })) != nil })
        else { return nil }
        return names
    }
}
