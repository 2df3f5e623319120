import AppStore
import Foundation
import HTTPSupport
import Service
import TestSupport
import Testing

/// Valid and invalid forms.
@Suite struct MultipartFormTests {
    private func form(_ text: String, boundary: String = "b") throws -> MultipartForm {
        try MultipartForm(Data(text.utf8), boundary: boundary)
    }

    @Test func `fields are read with their names, types and bytes`() throws {
        let form = try form(
            "--b  \r\nContent-Disposition: form-data; name=\"picture\"; filename=\"a.png\"\r\nContent-Type: Image/PNG\r\n\r\n"
                + "\r\n--c\r\n\r\n--b\r\ncontent-disposition:form-data;name=\"note\"\r\n\r\n\r\n--b--\r\nwhatever follows"
        )
        #expect(form.parts.map(\.name) == ["picture", "note"])
        #expect(form.parts.map(\.mediaType) == ["image/png", nil])
        #expect(form.parts.map { String(decoding: $0.bytes, as: UTF8.self) } == ["\r\n--c\r\n", ""])
    }

    /// The formats of other clients.
    @Test(arguments: [
        "--b\r\nContent-Disposition: form-data; name=picture; filename=a.png\r\n\r\nx\r\n--b--",
        "for nobody\r\n--b\r\nContent-Disposition: form-data; filename=\"; name=\\\"a\\\"\"; name=\"picture\"\r\n\r\nx\r\n--b--",
        "\r\n--b\r\nCONTENT-DISPOSITION: Form-Data; Name=\"picture\"\r\n\r\nx\r\n--b--",
    ])
    func `a field is found in other clients' formats`(_ text: String) throws {
        let parts = try form(text).parts
        #expect(parts.map(\.name) == ["picture"])
        #expect(parts.map(\.bytes) == [Array("x".utf8)])
    }

    @Test func `a form may be empty`() throws {
        #expect(try form("--b--").parts.isEmpty)
    }

    @Test(arguments: [
        "", "b", "--c\r\n", "--b", "--b\n", "--b\r\n", "--b\r\n\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx",
        "--b\r\nContent-Disposition: form-data; name=\"a\"\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\nx\r\n--b--", "--b\r\nnothing\r\n\r\nx\r\n--b--",
        "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n" + "X: " + String(repeating: "a", count: 4096)
            + "\r\n\r\nx\r\n--b--",
        String(repeating: "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n", count: 17) + "--b--",
    ])
    func `an invalid form is refused`(_ text: String) {
        #expect(throws: (any Error).self) { try form(text) }
    }
}
