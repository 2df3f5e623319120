import HTTPTypes
import Hummingbird

/// The routes of a part of the service that a setting turns on, while the setting is off.
package struct ClosedRoutes: RouteSource {
    private let option: String
    private let routes: [(method: HTTPRequest.Method, path: String)]
    /// The middleware that answers errors in the form of the paths.
    package let pathMiddleware: [PathMiddleware.Entry]

    /// The routes of a part that answers errors in a form of its own.
    ///
    /// - Parameters:
    ///   - option: The option of `till serve` that turns the part on.
    ///   - part: The part, which has middleware for each of its paths.
    package init(_ option: String, insteadOf part: some RouteSource) {
        self.option = option
        pathMiddleware = part.pathMiddleware
        routes = pathMiddleware.map { ($0.method, $0.path) }
    }

    package init(_ option: String, pagesIn folder: String) {
        self.option = option
        pathMiddleware = []
        routes = [.get, .post].flatMap { method in [folder, folder + "/**"].map { (method, $0) } }
    }

    package func add(to router: Router<ServiceContext>) {
        let forms = PathMiddleware(pathMiddleware)
        for (method, path) in routes {
            router.on(RouterPath(path), method: method) { [option] request, context -> Response in
                try await forms.handle(request, context: context) { _, _ in throw Problem.featureOff(option) }
            }
        }
    }
}

extension Problem {
    /// The refusal of a path that a setting turns on.
    ///
    /// - Parameter option: The option of `till serve` with the name of the setting, and with an example of its value.
    package static func featureOff(_ option: String) -> Problem {
        let setting = option.split(separator: " ").first?.drop { $0 == "-" } ?? ""
        return Problem(
            status: .notFound, code: "featureOff",
            detail: "This path needs the setting \"\(setting)\", which is off. Start the service with \(option).")
    }
}
