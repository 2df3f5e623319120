import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// Exports for analysis in parts. Each part is a snapshot and links to the next one (`Link`, RFC 8288).
struct ExportRoutes: OperationGroup {
    /// The longest cursor, in bytes.
    private static let maximumCursorLength = 128

    static let tag = OperationTag(
        "Exports", "All transactions, customers or events, for analysis.",
        [.readExport])
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.readExport) { request, context in
            let name = try context.parameters.text("export")
            guard let export = Export(rawValue: name) else {
                throw Problem(
                    status: .notFound, code: "exportUnknown",
                    detail:
                        "Unknown export. The exports are \(Export.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            let app = try RequestedApps.name(of: request, context)
            // Customers and events are not per app.
            if let app, export != .transactions {
                guard context.caller?.app == nil else { throw Problem.appForbidden(app) }
                throw Problem.parameter("app", "left out, because only the export transactions is available per app")
            }
            let format = try request.query("format") ?? ExportFormat.csv
            let size = try request.queriedNumber(
                "pageSize", in: Export.partSizes, else: Export.standardPartSize)
            let part = try await export.part(
                of: service.ledger, in: app, as: format, after: try position(of: request), users: size,
                at: service.clock.now()
            ) { service.apps.product($0) }
            var headers: HTTPFields = [.contentType: format.contentType, .cacheControl: "no-store"]
            if let next = part.next, let link = HTTPField.Name("Link") {
                let cursor = Base64.encode(Array(next.description.utf8), .urlSafe)
                headers[link] =
                    "</v1/exports/\(export.rawValue)?format=\(format.rawValue)&pageSize=\(size)\(Self.parameter(app))&cursor=\(cursor)>; rel=\"next\""
            }
            return Response(
                status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: part.text)))
        }
    }

    private static func parameter(_ app: String?) -> String {
        app.map { "&app=" + ($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "") } ?? ""
    }

    private func position(of request: Request) throws -> ExportPosition? {
        guard let cursor = try request.query("cursor", upTo: Self.maximumCursorLength) else { return nil }
        guard let bytes = Base64.decode(Array(cursor.utf8)[...], .urlSafe),
            let text = String(validating: bytes, as: UTF8.self), let position = ExportPosition(text)
        else { throw Problem.parameter("cursor", "the cursor of the Link header of the previous part") }
        return position
    }
}

extension APIOperation {
    static let readExport = APIOperation(
        .get, "/v1/exports/{export}", for: .backEnd(.export), isPerApp: true,
        "readExport", "Exports transactions, customers or events for analysis, in parts",
        parameters: [
            .path("export", "The name of the export.", .one(of: Export.self)),
            .query(
                "format", "The format: CSV (RFC 4180; the first part has a header), or JSON Lines.",
                .one(of: ExportFormat.self, default: .csv)),
            .query(
                "pageSize", "The number of users in a part. A part has all records of its users.",
                .integer(in: 1...1000, default: 200)),
            .query("cursor", "The cursor in the `Link` header of the previous part."), .app,
        ],
        answers: [
            .content(
                "A part. `Link` has the address of the next part (`rel=\"next\"`). The last part has no `Link`.",
                ["text/csv": .text(), "application/jsonl": .text()]
            ).header("Link", "The address of the next part (RFC 8288).")
        ])
}
