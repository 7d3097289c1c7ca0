//! Connections under TLS.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use table_engine::__executor as executor;
use table_engine::{Error, ErrorKind, Result};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream as ClientStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Makes connections under TLS, to servers whose certificates are trusted.
#[derive(Clone)]
pub(crate) struct Tls(TlsConnector);

/// Makes one connection, to the server of this name.
pub(crate) struct Connect {
    connector: TlsConnector,
    server: String,
}

/// A connection under TLS.
pub(crate) struct Stream<S>(ClientStream<S>);

impl Tls {
    /// Trusts whom these certificates are of, in PEM; or whom the system trusts.
    pub(crate) fn new(certificates: Option<&[u8]>) -> Result<Self> {
        let mut roots = RootCertStore::empty();
        if let Some(certificates) = certificates {
            for certificate in CertificateDer::pem_slice_iter(certificates) {
                roots.add(certificate.map_err(no_certificate)?).map_err(no_certificate)?;
            }
        } else {
            // The system may have some that rustls can't read: the others do.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        if roots.is_empty() {
            return Err(executor::error(
                ErrorKind::Unreachable,
                "no certificate is trusted: name some by `trust`",
            ));
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().map_err(no_certificate)?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Ok(Self(Arc::new(config).into()))
    }
}

#[cold]
fn no_certificate(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    executor::error(ErrorKind::Unreachable, "the certificates that are to be trusted can't be read")
        .caused_by(error)
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream<Socket>;
    type TlsConnect = Connect;
    type Error = io::Error;

    fn make_tls_connect(&mut self, server: &str) -> io::Result<Connect> {
        Ok(Connect { connector: self.0.clone(), server: server.to_owned() })
    }
}

impl TlsConnect<Socket> for Connect {
    type Stream = Stream<Socket>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream<Socket>>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let server = ServerName::try_from(self.server).map_err(io::Error::other)?;
            self.connector.connect(server, socket).await.map(Stream)
        })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Stream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        // Without it a password is as safe as the server's certificate.
        ChannelBinding::none()
    }
}
